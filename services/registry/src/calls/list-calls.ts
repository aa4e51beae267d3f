import type { CallList, ListCallsQuery, Warning } from '@repertoire/contract'
import { agentToRead, nameInRows, readCursor, readWindow, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { requirePayloads, showPayloads } from './show-payloads.ts'

/** A page of the log, and what is to be said of it: whether only a part was looked at, and how far other replicas lag behind. */
export type ListedCalls = { readonly list: CallList; readonly warnings: readonly Warning[]; readonly logLagMs: number }

/** A page of the call log, newest first: all rows for operators and auditors, its own rows for anybody else. */
export async function listCalls(deps: Deps, caller: Caller, query: ListCallsQuery): Promise<ListedCalls> {
  const nowMs = deps.clock.now().getTime()
  const window = readWindow(query, nowMs)
  const agent = agentToRead(caller, query.agent)
  if (query.q !== undefined) requirePayloads(caller, { agent, nowMs })
  const { cursor, from: _from, to: _to, ...filters } = query
  const beyond = readCursor(cursor, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  // Rows hold the name as its author wrote it; the filter may spell it either way.
  const skill = query.skill === undefined ? undefined : nameInRows(deps.snapshot(), query.skill, { caller, nowMs })
  const onBehalfOf = caller.onBehalfOf?.subject
  const { rows, lookedTo, lagMs } = await deps.calls.find({
    ...filters,
    ...window,
    skill,
    agent,
    onBehalfOf,
    beyond,
    limit: query.limit + 1,
  })
  const items = rows.slice(0, query.limit)
  const goOn = rows.length > query.limit ? items.at(-1)?.call_id : lookedTo
  return {
    list: { items: await showPayloads(deps, caller, items), next_cursor: goOn === undefined ? null : writeCursor(goOn) },
    warnings: rows.length <= query.limit && lookedTo !== undefined ? [partial] : [],
    logLagMs: lagMs,
  }
}

const partial: Warning = {
  code: 'looked_at_part',
  message: 'There are more rows in the window than one page looks at; go on with next_cursor until it is null.',
}
