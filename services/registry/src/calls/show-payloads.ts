import type { CallRow } from '@repertoire/contract'
import { permit, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** The tag with which an auditor reads what went in and came out. */
export const payloadTag = 'payload:read'

/**
 * Rows as their reader may see them: an auditor sees that calls happened, and what went in and came out only with the tag
 * payload:read; each time it does is an event of the audit log.
 */
export async function showPayloads(deps: Deps, caller: Caller, rows: readonly CallRow[]): Promise<CallRow[]> {
  if (caller.role !== 'auditor') return rows.map((row) => ({ ...row, payload_withheld: false }))
  const mayRead = permit(caller.grants, [payloadTag], deps.clock.now().getTime()).allow
  const foreign = rows.filter((row) => row.agent_id !== caller.id)
  if (mayRead && foreign.length > 0) await noteReading(deps, caller, foreign)
  return rows.map((row) =>
    mayRead || row.agent_id === caller.id
      ? { ...row, payload_withheld: false }
      : { ...row, input: null, output: null, payload_withheld: true },
  )
}

async function noteReading(deps: Deps, caller: Caller, rows: readonly CallRow[]): Promise<void> {
  await deps.store.transaction((tx) =>
    tx.audit.append({
      caller,
      action: 'payload.read',
      subject: rows.length === 1 ? (rows[0]?.call_id ?? '') : `${rows.length} calls`,
      after: { calls: rows.map((row) => row.call_id) },
      at: deps.clock.now(),
    }),
  )
}
