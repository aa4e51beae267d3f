import { errorCatalogue, type CallRow, type ErrorCode, type ErrorEffect, type Meta } from '@repertoire/contract/sdk'
import type { CallResult } from './call-result.ts'
import { RepertoireError } from './repertoire-error.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** How long to wait for the end of a call, in milliseconds; 400 000 unless given, within which every call has one. */
export type WaitOptions = { readonly timeoutMs?: number; readonly signal?: AbortSignal }

/** A call that goes on without anybody waiting for it. */
export type BackgroundCall<T> = {
  readonly id: string
  /** Its result, or its error, as if it had been waited for all along. Not waiting any longer does not end it. */
  readonly wait: (options?: WaitOptions) => Promise<CallResult<T>>
  /** Asks for its end, wherever it runs; false when it has ended already. */
  readonly cancel: () => Promise<boolean>
}

// 300 s, the most that a skill may take, and what was lost with its process is told within a minute.
const longestMs = 400_000
/** The most that the registry waits for one answer. */
const lookSeconds = 30
// 32 MiB, the most that is kept of a result, in pieces of 64 KiB, and twice that.
const mostPieces = 1024

/** A call in the background by its id; `headers` are those of the request that started it. */
export function backgroundCall<T>(transport: Transport, id: string, headers: Readonly<Record<string, string>>): BackgroundCall<T> {
  const path = `/v1/calls/${encodeURIComponent(id)}`
  const get = <D>(to: string, options: RequestOptions) => transport.send<D>('GET', to, { ...options, headers })
  const readResult = async (signal: AbortSignal | undefined): Promise<T> => {
    let text = ''
    let cursor: string | undefined
    for (let pieces = 0; pieces < mostPieces; pieces += 1) {
      const { data } = await get<{ readonly text: string | null; readonly next: string | null }>(`${path}/result`, {
        query: { cursor },
        signal,
      })
      text += data.text ?? ''
      if (data.next === null) return JSON.parse(text) as T
      cursor = new URL(data.next, 'http://registry').searchParams.get('cursor') ?? undefined
      if (cursor === undefined) break
    }
    throw noEnd(`The registry does not say where the rest of the result of call ${id} is.`)
  }
  return {
    id,
    wait: async ({ timeoutMs = longestMs, signal } = {}) => {
      const until = performance.now() + timeoutMs
      for (;;) {
        const leftMs = until - performance.now()
        const wait = Math.max(0, Math.min(lookSeconds, Math.floor(leftMs / 1000)))
        const { data: row, meta } = await get<CallRow>(path, { query: { wait }, timeoutMs: wait * 1000 + 10_000, signal })
        if (row.state === 'done') {
          if (row.outcome !== 'ok') throw errorOf(row, metaOf(row, meta))
          return { data: await readResult(signal), meta: metaOf(row, meta) }
        }
        if (performance.now() >= until) throw noEnd(`Call ${id} has not ended in time; it goes on.`)
        // Less than a second is too short to ask the registry to wait for.
        if (wait === 0) await new Promise((resolve) => setTimeout(resolve, Math.min(200, Math.max(1, leftMs))))
      }
    },
    cancel: async () => {
      try {
        return (await transport.send<{ readonly cancel_requested: boolean }>('POST', `${path}/cancel`, { body: {}, headers })).data
          .cancel_requested
      } catch (error) {
        if (error instanceof RepertoireError && error.code === 'ILLEGAL_TRANSITION') return false
        throw error
      }
    },
  }
}

function noEnd(message: string): RepertoireError {
  return new RepertoireError({
    code: 'NO_END',
    origin: 'network',
    effect: 'possible',
    next: 'retry',
    message,
    hint: 'wait for it again',
    status: 0,
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

// What somebody found out about a lost call counts; of others, only some outcomes say that nothing was done.
function effectOf({ outcome, settled }: CallRow): ErrorEffect {
  if (settled !== null) return settled.happened ? 'done' : 'none'
  return ['invalid_input', 'denied', 'not_resolved', 'busy'].includes(outcome) ? 'none' : 'possible'
}
