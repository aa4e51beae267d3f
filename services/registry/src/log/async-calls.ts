import type { Logger } from 'pino'
import type { AsyncCalls } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import type { OpenCallLog } from './open-call-log.ts'

const channel = 'repertoire_cancel'
const askMs = 1500
/** A notification that was lost is made good this soon. */
const lookMs = 900

/** What calls in the background work with. */
export type AsyncCallsOptions = {
  readonly database: Database
  readonly calls: OpenCallLog
  readonly instance: string
  readonly logger: Logger
}

/** Calls in the background: they run here, and hear from any replica that they are to end. */
export function openAsyncCalls({
  database,
  calls,
  instance,
  logger,
}: AsyncCallsOptions): AsyncCalls & { readonly stop: (withinMs: number) => Promise<void> } {
  const { log } = database
  const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<unknown> }>()
  const end = (callId: string): void => running.get(callId)?.controller.abort()
  const stopListening = database.listen({ channel, onPayload: end, onListen: () => undefined }, (error) =>
    logger.debug({ err: error }, 'cancellations cannot be listened for'),
  )
  const look = async (): Promise<void> => {
    const found = await log.gate.run(
      () =>
        log.sql<
          { call_id: string }[]
        >`select call_id from call_intents where instance = ${instance}::uuid and cancel_requested_at is not null`,
      askMs,
    )
    for (const { call_id: callId } of found) end(callId)
  }
  const timer = setInterval(() => {
    if (running.size > 0) void look().catch(() => undefined)
  }, lookMs)
  timer.unref()
  return {
    announce: calls.announce,
    cancel: (callId) =>
      log.gate.run(async () => {
        const asked = await log.sql`
          with asked as (update call_intents set cancel_requested_at = now() where call_id = ${callId}::uuid and kind = 'async' returning call_id)
          select pg_notify(${channel}, call_id::text) from asked`
        return asked.length > 0
      }, askMs),
    run: (callId, work) => {
      const controller = new AbortController()
      const done = work(controller.signal)
        .catch((error: unknown) => logger.error({ call_id: callId, err: error }, 'a call in the background ended without its row'))
        .finally(() => {
          running.delete(callId)
          calls.abandon(callId)
        })
      running.set(callId, { controller, done })
    },
    running: () => running.size,
    stop: async (withinMs) => {
      clearInterval(timer)
      let late: NodeJS.Timeout | undefined
      const over = new Promise<void>((resolve) => (late = setTimeout(resolve, withinMs)))
      await Promise.race([Promise.all([...running.values()].map(({ done }) => done)), over]).finally(() => clearTimeout(late))
      await stopListening()
    },
  }
}
