import type { CallList, ListCallsQuery } from '@repertoire/contract'
import { isKnownTo, nameKey, readCursor, Refusal, seesEverything, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showPayloads } from './show-payloads.ts'

const dayMs = 24 * 60 * 60 * 1000
const maxWindowMs = 90 * dayMs

/** A page of the call log, newest first: all rows for operators and auditors, its own rows for anybody else. */
export async function listCalls(deps: Deps, caller: Caller, query: ListCallsQuery): Promise<CallList> {
  const to = query.to === undefined ? new Date(deps.clock.now().getTime() + 1000) : new Date(query.to)
  const from = query.from === undefined ? new Date(to.getTime() - dayMs) : new Date(query.from)
  if (from.getUTCFullYear() < 1970 || to.getUTCFullYear() > 9999)
    throw refuseWindow('from and to lie between the years 1970 and 9999.', '/from')
  if (from >= to) throw refuseWindow('from has to lie before to.', '/from')
  if (to.getTime() - from.getTime() > maxWindowMs) throw refuseWindow('A window is at most 90 days long.', '/from')
  if (!seesEverything(caller) && query.agent !== undefined && query.agent !== caller.id) {
    throw new Refusal('ROLE_REQUIRED', 'An agent reads its own calls only.', {
      hint: 'leave agent out, or use a key of auditor, operator or admin',
    })
  }
  const { cursor, from: _from, to: _to, ...filters } = query
  const before = readCursor(cursor, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const agent = seesEverything(caller) ? query.agent : caller.id
  // Rows hold the name as its author wrote it; the filter may spell it either way.
  const named = query.skill === undefined ? undefined : deps.snapshot().skills.get(nameKey(query.skill))
  const isKnown = named !== undefined && isKnownTo(named, caller, deps.clock.now().getTime())
  const skill = isKnown ? named.name : query.skill
  const rows = await deps.calls.find({
    ...filters,
    skill,
    agent,
    onBehalfOf: caller.onBehalfOf?.subject,
    from,
    to,
    before,
    limit: query.limit + 1,
  })
  const items = rows.slice(0, query.limit)
  const last = items.at(-1)
  return {
    items: await showPayloads(deps, caller, items),
    next_cursor: rows.length > query.limit && last !== undefined ? writeCursor(last.call_id) : null,
  }
}

function refuseWindow(message: string, path: string): Refusal {
  return new Refusal('INVALID_REQUEST', message, { hint: 'give from and to as RFC 3339 times', details: [{ path, rule: 'window' }] })
}
