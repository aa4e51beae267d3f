import type { AuditVerified } from '@repertoire/contract'
import { requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Whether the audit log is as it was written: no event edited, removed or moved, and no tail cut off. */
export async function verifyAudit(deps: Deps, caller: Caller): Promise<AuditVerified> {
  requireRole(caller, 'auditor')
  return deps.store.verifyAudit()
}
