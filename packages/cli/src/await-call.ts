import { errorCatalogue, type ErrorCode } from '@repertoire/contract/sdk'
import { RepertoireError, type CallRow, type Meta, type Repertoire } from '@repertoire/sdk'
import { apiPath } from './api-path.ts'
import { CommandError } from './command-error.ts'
import { followResult } from './follow-result.ts'
import type { CallAnswered } from './say-call.ts'

const lookMs = 10_000
/** What was lost with its process is told within a minute; whoever waits for it hears of that too. */
const lostMs = 90_000
const didNothing = new Set(['invalid_input', 'denied', 'not_resolved', 'busy'])

/** Waits for the end of a call in the background, and answers or fails with it as if it had been waited for all along. */
export async function awaitCall(registry: Repertoire, id: string, withinMs: number): Promise<CallAnswered> {
  const until = performance.now() + withinMs + lostMs
  while (performance.now() < until) {
    const { data: row, meta } = await registry.transport.send<CallRow>('GET', apiPath`/v1/calls/${id}`, {
      query: { wait: lookMs / 1000 },
      timeoutMs: 2 * lookMs,
    })
    if (row.state === 'running') continue
    const about = metaOf(row, meta)
    if (row.outcome !== 'ok') throw errorOf(row, about)
    let text = ''
    for await (const piece of followResult(registry, id)) text += piece
    return { data: JSON.parse(text) as unknown, meta: about }
  }
  throw new CommandError({
    exit: 'unavailable',
    code: 'NO_END',
    message: `Call ${id} has not ended.`,
    hint: `it goes on: repertoire calls ${id}`,
  })
}

function metaOf(row: CallRow, meta: Meta): Meta {
  return {
    ...meta,
    call_id: row.call_id,
    skill: row.skill,
    outcome: row.outcome as NonNullable<Meta['outcome']>,
    duration_ms: row.total_ms,
    ...(row.version === null ? {} : { version: row.version }),
    ...(row.via === null ? {} : { via: row.via as NonNullable<Meta['via']> }),
  }
}

function errorOf(row: CallRow, meta: Meta): RepertoireError {
  const origin = row.error_origin === 'skill' || row.error_origin === 'upstream' ? row.error_origin : 'registry'
  const code = row.error_code ?? 'INTERNAL'
  const entry = origin === 'skill' || !Object.hasOwn(errorCatalogue, code) ? undefined : errorCatalogue[code as ErrorCode]
  return new RepertoireError({
    code,
    origin,
    effect: effectOf(row),
    next: entry?.next ?? 'ask_human',
    message: row.error_message ?? `The call ended with outcome ${row.outcome}.`,
    status: entry?.status ?? 200,
    meta,
  })
}

// What somebody, or a probe, found out about a lost call counts.
function effectOf({ outcome, settled }: CallRow): RepertoireError['effect'] {
  if (settled !== null) return settled.happened ? 'done' : 'none'
  return didNothing.has(outcome) ? 'none' : 'possible'
}
