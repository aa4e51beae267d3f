import type { Answer } from '@repertoire/sdk'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { awaitCall } from '../await-call.ts'
import { withContext, type Context } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { readParams } from '../read-params.ts'
import { graceMs, longestCallMs, printCall } from '../say-call.ts'
import { readSkillReference } from '../skill-reference.ts'
import { isTyped, standardInput } from '../terminal.ts'

type CallCommandOptions = {
  readonly params: string
  readonly dryRun?: boolean
  readonly timeoutMs?: number
  readonly session?: string
  readonly intent?: string
  readonly expectVersion?: string
  readonly idempotencyKey?: string
  readonly async?: boolean
  readonly wait?: boolean
  readonly meta?: boolean
}

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
    .option('--idempotency-key <key>', 'the same key again within a day has one effect, and the first answer', idempotencyKey)
    .option('--async', 'start it in the background and print its id')
    .addOption(new Option('--wait', 'with --async: wait for its end and print its data').implies({ async: true }))
    .option('--meta', 'print {data, meta} instead of the data alone')
    .addHelpText(
      'after',
      examples(
        `repertoire call query-order --params '{"order_id": "123"}'`,
        'jq -n \'{order_id: "123"}\' | repertoire call query-order@^1.2 --params -',
        'repertoire call send-email --params @mail.json --async --idempotency-key mail-2026-07',
      ),
    )
    .action(
      withContext(async (context, [text]: [string], options: CallCommandOptions) => {
        const { print, registry } = context
        const answer = await send(context, text, options)
        const { data, status, meta } = answer
        if (status !== 202) return printCall(print, answer, options.meta)
        const { call_id: id } = data as { readonly call_id: string }
        print.note(`${meta.skill ?? ''} ${meta.version ?? ''} (${meta.via ?? ''}) runs in the background; call ${id}`)
        if (options.wait === true)
          return printCall(print, await awaitCall(registry(), id, options.timeoutMs ?? longestCallMs), options.meta)
        print.note(`its end: repertoire calls ${id}; its result: repertoire result ${id}; to end it: repertoire cancel ${id}`)
        print.result(data, () => id)
      }),
    )
}

async function send({ print, registry }: Context, text: string, options: CallCommandOptions): Promise<Answer<unknown>> {
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
  return client.transport.send<unknown>('POST', apiPath`/v1/skills/${name}/calls`, {
    body,
    headers: {
      ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
      ...(options.async === true ? { prefer: 'respond-async' } : {}),
    },
    timeoutMs: (options.timeoutMs ?? longestCallMs) + graceMs,
  })
}

// What no header can carry is a slip of the pen, and said to be one before anything is sent.
function idempotencyKey(text: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) throw new InvalidArgumentError('It has 1 to 255 visible ASCII characters, and no space.')
  return text
}
