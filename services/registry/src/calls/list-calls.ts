import type { CallList, ListCallsQuery } from '@repertoire/contract'
import { agentToRead, nameInRows, readCursor, readWindow, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showPayloads } from './show-payloads.ts'

/** A page of the call log, newest first: all rows for operators and auditors, its own rows for anybody else. */
export async function listCalls(deps: Deps, caller: Caller, query: ListCallsQuery): Promise<CallList> {
  const nowMs = deps.clock.now().getTime()
  const { from, to } = readWindow(query, nowMs)
  const agent = agentToRead(caller, query.agent)
  const { cursor, from: _from, to: _to, ...filters } = query
  const before = readCursor(cursor, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const skill = query.skill === undefined ? undefined : nameInRows(deps.snapshot(), query.skill, { caller, nowMs })
  const onBehalfOf = caller.onBehalfOf?.subject
  const rows = await deps.calls.find({ ...filters, skill, agent, onBehalfOf, from, to, before, limit: query.limit + 1 })
  const items = rows.slice(0, query.limit)
  const last = items.at(-1)
  return {
    items: await showPayloads(deps, caller, items),
    next_cursor: rows.length > query.limit && last !== undefined ? writeCursor(last.call_id) : null,
  }
}
