import type { CallRow } from '@repertoire/contract'
import { redactText, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Settlement } from '../stored.ts'

/** What became of a call whose outcome is unknown, and how that was found out. */
export type Found = {
  readonly row: CallRow
  readonly happened: boolean
  readonly reason: string
  /** The probe that told, where it was one. */
  readonly probe?: Settlement['probe']
}

/** Writes for good what became of a lost call, into the audit log and then its row; false when that was known by then. */
export async function noteSettlement(deps: Deps, caller: Caller, { row, happened, reason: given, probe }: Found): Promise<boolean> {
  const { call_id: id, skill } = row
  // Whoever looked may quote what they saw, and whoever reads the call reads it.
  const reason = redactText(deps.redaction, given)
  const told = probe === undefined ? {} : { probe }
  const at = deps.clock.now()
  await deps.store.transaction((tx) =>
    tx.audit.append({ caller, action: 'call.settle', subject: id, skill, reason, after: { call_id: id, happened, ...told }, at }),
  )
  return deps.calls.settle(id, { happened, by: caller.id, reason, at: at.toISOString(), ...told })
}
