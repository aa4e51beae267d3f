import type { Meta } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { readParams } from '../read-params.ts'
import { safeJson } from '../safe-text.ts'
import { readSkillReference } from '../skill-reference.ts'
import { isTyped, standardInput } from '../terminal.ts'

type CallCommandOptions = {
  readonly params: string
  readonly dryRun?: boolean
  readonly timeoutMs?: number
  readonly session?: string
  readonly intent?: string
  readonly expectVersion?: string
  readonly meta?: boolean
}

const longestCallMs = 300_000
// The registry ends a call at its deadline; the connection waits a little longer for the answer that says so.
const graceMs = 10_000

/** Adds `repertoire call`. */
export function addCall(program: Command): void {
  program
    .command('call')
    .summary('call a skill')
    .description('Calls a skill and prints its data as JSON on standard output; which version answered, and why, stands on standard error.')
    .argument('<skill>', 'name or name@range')
    .option('--params <json>', 'the arguments: JSON, - for standard input, or @file', '{}')
    .option('--dry-run', 'check everything and call nothing')
    .option('--timeout-ms <ms>', 'how long the skill may take', wholeNumber(1, longestCallMs))
    .option('--session <id>', 'the session this call is part of')
    .option('--intent <text>', 'one sentence for the log: what for')
    .option('--expect-version <version>', 'the version you read about: it answers while it can be served; else the call is refused')
    .option('--meta', 'print {data, meta} instead of the data alone')
    .addHelpText(
      'after',
      examples(
        `repertoire call query-order --params '{"order_id": "123"}'`,
        'jq -n \'{order_id: "123"}\' | repertoire call query-order@^1.2 --params -',
        'repertoire call send-email --params @mail.json --dry-run',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [text]: [string], options: CallCommandOptions) => {
        const { name, range } = readSkillReference(text)
        const client = registry()
        if (options.params === '-' && isTyped()) print.note('reading the arguments as JSON; end with Ctrl-D')
        const body = {
          arguments: await readParams(options.params, standardInput()),
          range,
          expect_version: options.expectVersion,
          session: options.session,
          dry_run: options.dryRun,
          timeout_ms: options.timeoutMs,
          intent: options.intent,
        }
        const { data, meta } = await client.transport.send<unknown>('POST', apiPath`/v1/skills/${name}/calls`, {
          body,
          timeoutMs: (options.timeoutMs ?? longestCallMs) + graceMs,
        })
        const shown = options.meta === true ? { data, meta } : data
        print.result(shown, () => safeJson(shown))
        print.note(sayMeta(meta))
        for (const warning of meta.warnings) print.note(`warning: ${warning.message}`)
        if (meta.truncated !== undefined) print.note(`the result was cut: ${JSON.stringify(meta.truncated)}`)
      }),
    )
}

function sayMeta(meta: Meta): string {
  const ran = meta.dry_run === true ? 'would answer' : `answered in ${Math.round(meta.duration_ms ?? 0)} ms`
  return `${meta.skill ?? ''} ${meta.version ?? ''} (${meta.via ?? ''}) ${ran}; call ${meta.call_id ?? ''}`
}
