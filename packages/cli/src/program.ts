import { settings } from '@repertoire/contract/sdk'
import { Command } from 'commander'
import { readFileSync } from 'node:fs'
import { addAdminKey } from './commands/admin-key.ts'
import { addAgents } from './commands/agents.ts'
import { addAudit } from './commands/audit.ts'
import { addCall } from './commands/call.ts'
import { addCalls } from './commands/calls.ts'
import { addCanary } from './commands/canary.ts'
import { addCancel } from './commands/cancel.ts'
import { addCheck } from './commands/check.ts'
import { addConnections } from './commands/connections.ts'
import { addDependents } from './commands/dependents.ts'
import { addDeprecate } from './commands/deprecate.ts'
import { addExport } from './commands/export.ts'
import { addExplain } from './commands/explain.ts'
import { addGrant } from './commands/grant.ts'
import { addGrants } from './commands/grants.ts'
import { addImport } from './commands/import.ts'
import { addKeys } from './commands/keys.ts'
import { addList } from './commands/list.ts'
import { addPromote } from './commands/promote.ts'
import { addPublish } from './commands/publish.ts'
import { addQuotas } from './commands/quotas.ts'
import { addRelease } from './commands/release.ts'
import { addReplay } from './commands/replay.ts'
import { addResolve } from './commands/resolve.ts'
import { addResult } from './commands/result.ts'
import { addRevert } from './commands/revert.ts'
import { addRevoke } from './commands/revoke.ts'
import { addRollback } from './commands/rollback.ts'
import { addSelf } from './commands/self.ts'
import { addSettle } from './commands/settle.ts'
import { addShow } from './commands/show.ts'
import { addStats } from './commands/stats.ts'
import { addTail } from './commands/tail.ts'
import { addSpool } from './commands/spool.ts'
import { addTransfer } from './commands/transfer.ts'
import { addUnyank } from './commands/unyank.ts'
import { addWithdraw } from './commands/withdraw.ts'
import { contextOf } from './context.ts'
import { checkVariables } from './environment.ts'
import { exits } from './exit-codes.ts'
import { writeErr, writeOut } from './terminal.ts'

// In the order in which they are met, under the headings of the help.
const additions = {
  'For authors:': [addCheck, addPublish, addImport],
  'Who gets which version:': [addRelease, addCanary, addPromote, addRollback, addRevert, addDeprecate, addWithdraw, addUnyank],
  'Looking and calling:': [
    addList,
    addShow,
    addResolve,
    addDependents,
    addCall,
    addCalls,
    addTail,
    addStats,
    addExport,
    addResult,
    addReplay,
    addCancel,
    addSettle,
    addSelf,
  ],
  'Who may what:': [addAgents, addKeys, addGrant, addGrants, addRevoke, addQuotas, addConnections, addTransfer, addExplain, addAudit],
  'Where the registry runs:': [addAdminKey, addSpool],
}

/** The whole command line: every command, the options they share, and how it speaks when it is misused. */
export function createProgram({ isJson }: { readonly isJson: boolean }): Command {
  const program = new Command('repertoire')
    .description(
      'Repertoire: the registry where agents get their skills. Check, publish and call skills, decide who gets which version, and say who may use them.',
    )
    .version(ownVersion(), '--version', 'print the version of this command line')
    .option('--url <url>', 'the registry; REPERTOIRE_URL unless given')
    .option('--key-file <file>', 'a file that holds the key, mode 600; REPERTOIRE_KEY or REPERTOIRE_KEY_FILE unless given')
    .option('--json', 'print the data, or {"error": …}, as JSON and nothing else on standard output')
    .option('--quiet', 'print results only: no remarks, no progress')
    .exitOverride()
    // Under --json a misuse is told as JSON, by whoever catches it.
    .configureOutput({
      writeOut,
      writeErr: (text) => (isJson ? undefined : writeErr(text)),
      outputError: (text, write) => write(`repertoire: ${text.replace(/^error: /, '')}`),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help to see how it is written)')
    .addHelpText('after', () => `${sayEnvironment()}${sayExits()}`)
    .hook('preAction', async (_program, command) => {
      const remarks = await checkVariables()
      for (const remark of remarks) contextOf(command).print.note(`warning: ${remark}`)
    })
  for (const [heading, group] of Object.entries(additions)) {
    program.commandsGroup(heading)
    for (const add of group) add(program)
  }
  return program
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return version
}

function sayEnvironment(): string {
  const ours = settings.filter((setting) => setting.by === 'sdk' || setting.by === 'cli')
  return `\nEnvironment:\n${ours.map(({ name, fallback, meaning }) => `  ${name.padEnd(20)}  ${meaning}${fallback === '(none)' ? '' : ` ${fallback} unless set.`}\n`).join('')}`
}

function sayExits(): string {
  return `\nExit codes:\n${Object.values(exits)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}\n`)
    .join('')}`
}
