import type { OpenedTail, TailEvent } from '../calls/tail-calls.ts'
import { streamOf } from './stream.ts'

const reconnectMs = 1000

/** A tail as server-sent events. A beat is a comment that carries the place, so that nothing is read again after a quiet night. */
export function respondTail(tail: OpenedTail, requestId: string): Response {
  let isFirst = true
  let seq = 0
  const next = async (): Promise<string | undefined> => {
    if (isFirst) {
      isFirst = false
      return `retry: ${reconnectMs}\n\n`
    }
    const event = await tail.next()
    seq = event?.seq ?? seq
    return event === undefined ? undefined : write(event)
  }
  const slow: () => TailEvent = () => ({
    kind: 'end',
    seq,
    reason: 'slow_reader',
    message: 'Nothing was read for ten seconds; go on with Last-Event-ID.',
  })
  return new Response(streamOf({ next, close: tail.close }, { signal: tail.stuck, lastWords: () => write(slow()) }), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store',
      // A proxy that gathers an answer before it passes it on would hold events back.
      'x-accel-buffering': 'no',
      'repertoire-request-id': requestId,
    },
  })
}

function write(event: TailEvent): string {
  if (event.kind === 'beat') return `: still here\nid: ${event.seq}\n\n`
  const { kind, seq, ...data } = event
  return `id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify(event.kind === 'call' ? event.row : data)}\n\n`
}
