import { RepertoireError, type CallRow } from '@repertoire/sdk'
import type { Command } from 'commander'
import { setTimeout as pause } from 'node:timers/promises'
import { addFilters, filtersQuery, type CallFilters } from '../call-filters.ts'
import { CommandError } from '../command-error.ts'
import { withContext, type Context } from '../context.ts'
import { examples } from '../examples.ts'
import { onInterrupt } from '../interrupt.ts'
import { wholeNumber } from '../read-option.ts'
import { safeJson, safeLine } from '../safe-text.ts'
import { readEvents } from '../sse.ts'
import { writeOut } from '../terminal.ts'

type Options = CallFilters & { readonly count?: number; readonly after?: number }

const againMs = 1000

/** Adds `repertoire tail`. */
export function addTail(program: Command): void {
  const tail = program
    .command('tail')
    .summary('calls as they happen')
    .description('Shows calls as they are logged, until it is stopped. A connection that ends is made again, without a gap or a repeat.')
  addFilters(tail)
    .option('--count <rows>', 'end after so many', wholeNumber(1))
    .option('--after <place>', 'go on after a place that an earlier tail told', wholeNumber(0))
    .addHelpText(
      'after',
      examples('repertoire tail', 'repertoire tail --skill query-order --outcome executor_error', 'repertoire tail --json --count 10'),
    )
    .action(withContext(async (context, _: [], options: Options) => follow(context, options)))
}

async function follow({ print, registry }: Context, options: Options): Promise<void> {
  const stop = new AbortController()
  const forget = onInterrupt(() => stop.abort())
  let place = options.after === undefined ? undefined : String(options.after)
  let left = options.count ?? Number.POSITIVE_INFINITY
  try {
    while (left > 0 && !stop.signal.aborted) {
      try {
        const { text } = await registry().transport.open('/v1/calls/tail', {
          query: filtersQuery(options),
          headers: place === undefined ? {} : { 'last-event-id': place },
          signal: stop.signal,
        })
        for await (const { id, event, data } of readEvents(text)) {
          place = id ?? place
          if (event === 'end') sayEnd(data, print.note)
          if (event !== 'call') continue
          writeOut(print.isJson ? `${safeJson(JSON.parse(data), 0)}\n` : `${sayCall(JSON.parse(data) as CallRow)}\n`)
          left -= 1
          if (left === 0) break
        }
      } catch (error) {
        // Without a first event there is no place to go on from, and what came between would be missing in silence.
        if (!mayGoOn(error, stop.signal.aborted) || place === undefined) throw error
        print.note(`${error instanceof Error ? error.message : 'the connection ended'} Trying again.`)
      }
      if (left > 0 && !stop.signal.aborted) await pause(againMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    forget()
  }
  if (place !== undefined) print.note(`go on later with --after ${place}`)
}

function mayGoOn(error: unknown, isStopped: boolean): boolean {
  return !isStopped && error instanceof RepertoireError && (error.status === 0 || error.status === 503)
}

function sayEnd(data: string, note: (text: string) => void): void {
  const { reason, message } = JSON.parse(data) as { readonly reason: string; readonly message: string }
  if (reason === 'rights_changed') throw new CommandError({ exit: 'denied', code: 'RIGHTS_CHANGED', message })
  note(message)
}

function sayCall(row: CallRow): string {
  const parts = [
    row.ts.slice(0, 19).replace('T', ' '),
    row.agent_id,
    `${row.skill}${row.version === null ? '' : `@${row.version}`}`,
    row.via ?? '-',
    `${row.outcome}${row.dry_run ? ' (dry run)' : ''}`,
    `${Math.round(row.total_ms)} ms`,
    row.error_code ?? '',
  ]
  return safeLine(parts.join('  '))
}
