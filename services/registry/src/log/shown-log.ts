import { redactText, type RedactionPolicy } from '@repertoire/core'
import type { Ids, ShownLog } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import type { ShownEvent } from '../stored.ts'

const maxWaiting = 5000
const maxRemembered = 20_000
const everyMs = 1000

/** Notes what was shown: once per agent, session, revision and query, written in the background, dropped when too much waits. */
export function openShownLog(
  { log }: Database,
  { ids, replica, redaction }: { readonly ids: Ids; readonly replica: string; readonly redaction: RedactionPolicy },
): ShownLog & { readonly stop: () => Promise<void> } {
  let waiting: { readonly id: string; readonly at: Date; readonly event: ShownEvent }[] = []
  let writing: Promise<void> = Promise.resolve()
  let dropped = 0
  const noted = new Set<string>()

  const write = async (): Promise<void> => {
    const batch = waiting.slice(0, 1000)
    waiting = waiting.slice(1000)
    if (batch.length === 0) return
    const column = (of: (entry: (typeof batch)[number]) => unknown): never => batch.map(of) as never
    const written = log.gate.run(
      () => log.sql`insert into shown_events (event_id, ts, replica, kind, agent_id, session, revision, query, items, item_count)
      select * from unnest(${column((entry) => entry.id)}::uuid[], ${column((entry) => entry.at.toISOString())}::timestamptz[], ${column(() => replica)}::text[],
        ${column((entry) => entry.event.kind)}::text[], ${column((entry) => entry.event.agentId)}::text[], ${column((entry) => entry.event.session)}::text[],
        ${column((entry) => entry.event.revision)}::bigint[], ${column((entry) => entry.event.query)}::text[], ${column((entry) => entry.event.items.join(' '))}::text[],
        ${column((entry) => entry.event.items.length)}::int[])`,
    )
    await written.catch(() => {
      dropped += batch.length
    })
  }
  let isWriting = false
  const timer = setInterval(() => {
    if (isWriting) return
    isWriting = true
    writing = write().finally(() => (isWriting = false))
  }, everyMs)
  timer.unref()
  return {
    note: (event) => {
      const key = `${event.kind}\n${event.agentId}\n${event.session ?? ''}\n${event.revision}\n${event.query}`
      if (noted.has(key)) return
      if (noted.size >= maxRemembered) noted.clear()
      noted.add(key)
      if (waiting.length >= maxWaiting) dropped += 1
      else waiting.push({ id: ids.next(), at: new Date(), event: withoutSecrets(redaction, event) })
    },
    dropped: () => dropped,
    stop: async () => {
      clearInterval(timer)
      await writing
      await write()
    },
  }
}

function withoutSecrets(redaction: RedactionPolicy, event: ShownEvent): ShownEvent {
  const session = event.session === null ? null : redactText(redaction, event.session)
  return { ...event, session, query: redactText(redaction, event.query) }
}
