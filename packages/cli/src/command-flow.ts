import { RepertoireError, type Answer, type DryRunReport, type LineChanged } from '@repertoire/sdk'
import { CommandError, usageError } from './command-error.ts'
import type { CommandOptions } from './command-options.ts'
import type { Context } from './context.ts'
import { waitMsOf } from './read-option.ts'
import { sayDryRun } from './say-dry-run.ts'
import { sayReplicas, warnOfReplicas, type Obeyed } from './say-replicas.ts'
import { showWaiting } from './show-waiting.ts'

/** A change of what agents get: what it is called, where it is sent, and how its outcome is said. */
export type Change<T extends Changed> = {
  /** In the words of the command, such as `promote query-order 1.1.0`. */
  readonly what: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** What is read for the ETag when nobody is shown anything. */
  readonly about: string
  /** Whether it takes something away in an emergency: then what somebody else changed meanwhile must not stop it. */
  readonly isUrgent: boolean
  readonly say: (data: T) => string
}

/** What every change answers. */
export type Changed = Obeyed & Pick<LineChanged, 'changed'>

const answerMs = 30_000

/** Carries a change out: shown and agreed to first unless --yes says so, and upon the very state that was shown. */
export async function carryOut<T extends Changed>(context: Context, change: Change<T>, options: CommandOptions): Promise<T | undefined> {
  const { print } = context
  if (options.dryRun === true) {
    const { data } = await lookAhead(context, change, options)
    print.result(data, () => sayDryRun(data, { what: change.what, width: print.width }))
    print.note('this was a dry run: nothing has changed')
    return undefined
  }
  const tag = options.yes === true ? await tagOf(context, change) : await agree(context, change, options)
  const data = await send(context, change, { ...options, ifMatch: options.ifMatch ?? tag })
  print.result(data, () => change.say(data) + sayReplicas(data))
  for (const warning of warnOfReplicas(data)) print.note(`warning: ${warning}`)
  return data
}

async function tagOf<T extends Changed>({ registry }: Context, { about, isUrgent }: Change<T>): Promise<string | undefined> {
  return isUrgent ? undefined : ((await registry().transport.send('GET', about)).etag ?? undefined)
}

async function agree<T extends Changed>(context: Context, change: Change<T>, options: CommandOptions): Promise<string | undefined> {
  if (context.ask === undefined)
    throw usageError(
      `Nobody is here to be asked whether to ${change.what}.`,
      'add --yes to carry it out unasked, or --dry-run to see what it would do',
    )
  const { data, etag } = await lookAhead(context, change, options)
  context.print.show((width) => `${sayDryRun(data, { what: change.what, width })}\n`)
  // Where nothing would change there is nothing to decide; if that is over by now, the ETag says so.
  if (!data.would_change || /^y(es)?$/i.test((await context.ask('Go on? [y/N] ')).trim())) return etag ?? undefined
  throw new CommandError({ exit: 'interrupted', code: 'DECLINED', message: 'Nothing has changed.' })
}

function lookAhead<T extends Changed>(
  { registry }: Context,
  { path, body }: Change<T>,
  { reason, ifMatch }: CommandOptions,
): Promise<Answer<DryRunReport>> {
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  return registry().transport.send<DryRunReport>('POST', path, { query: { dry_run: true }, body: { ...body, reason }, headers })
}

async function send<T extends Changed>(
  { registry, print }: Context,
  { path, body }: Change<T>,
  { reason, ifMatch, wait }: Omit<CommandOptions, 'ifMatch'> & { readonly ifMatch: string | undefined },
): Promise<T> {
  const waitMs = typeof wait === 'string' ? waitMsOf(wait) : 0
  const waiting = showWaiting(waitMs, print.isQuiet)
  try {
    const { data, meta } = await registry().transport.send<T>('POST', path, {
      query: { wait: typeof wait === 'string' ? wait : undefined },
      body: { ...body, reason },
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
      timeoutMs: answerMs + waitMs,
    })
    for (const { message } of meta.warnings) print.note(`warning: ${message}`)
    return data
  } catch (error) {
    if (error instanceof RepertoireError && error.effect === 'possible')
      print.note('it may have been carried out all the same; giving the same command again does it once')
    throw error
  } finally {
    waiting.stop()
  }
}
