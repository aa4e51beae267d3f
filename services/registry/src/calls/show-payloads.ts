import type { CallRow } from '@repertoire/contract'
import { permit, redactText, Refusal, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** The tag with which an auditor reads what went in and came out. */
export const payloadTag = 'payload:read'

/**
 * Rows as their reader may see them: an auditor sees that calls happened, and what went in and came out only with the tag
 * payload:read; each time it does is an event of the audit log.
 */
export async function showPayloads(deps: Deps, caller: Caller, rows: readonly CallRow[]): Promise<CallRow[]> {
  const foreign = rows.filter((row) => row.agent_id !== caller.id)
  if (caller.role === 'auditor' && foreign.length > 0 && mayReadPayloads(deps, caller)) await noteReading(deps, caller, foreign)
  return withholdPayloads(deps, caller, rows)
}

/** The same for streams, whose reading was noted when they were opened. */
export function withholdPayloads(deps: Deps, caller: Caller, rows: readonly CallRow[]): CallRow[] {
  const mayRead = mayReadPayloads(deps, caller)
  return rows.map((row) =>
    mayRead || row.agent_id === caller.id
      ? { ...row, payload_withheld: false }
      : { ...row, input: null, output: null, payload_withheld: true },
  )
}

/** Refuses a search in inputs by somebody who may not read them: it would find them out by asking for parts. */
export function requirePayloads(caller: Caller, { agent, nowMs }: { readonly agent: string | undefined; readonly nowMs: number }): void {
  if (caller.role !== 'auditor' || agent === caller.id || permit(caller.grants, [payloadTag], nowMs).allow) return
  throw new Refusal('PERMISSION_DENIED', `Searching in inputs needs the tag ${payloadTag}; ${caller.id} does not hold it.`, {
    hint: `ask an admin: repertoire grant ${caller.id} ${payloadTag} --reason "…"`,
    details: [{ rule: 'permission', expected: payloadTag }],
  })
}

/** What is noted of a stream: which, and what was asked for. */
export type StreamNoted = { readonly kind: 'tail' | 'export'; readonly agent: string | undefined; readonly asked: object }

/** Notes once that a stream of other agents' calls was opened: every export, and of tails those whose payloads are for few. */
export async function noteStream(deps: Deps, caller: Caller, { kind, agent, asked }: StreamNoted): Promise<void> {
  const withPayloads = mayReadPayloads(deps, caller)
  if (agent === caller.id || (kind === 'tail' && (caller.role !== 'auditor' || !withPayloads))) return
  await deps.store.transaction((tx) =>
    tx.audit.append({
      caller,
      action: kind === 'tail' ? 'payload.read' : 'calls.export',
      subject: kind,
      after: { asked: withoutSecrets(deps, asked), payloads: withPayloads },
      at: deps.clock.now(),
    }),
  )
}

// What is looked for in inputs may be the very secret that was taken out of them.
function withoutSecrets({ redaction }: Deps, asked: object): object {
  return Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [name, typeof value === 'string' ? redactText(redaction, value) : (value as unknown)]),
  )
}

function mayReadPayloads(deps: Deps, caller: Caller): boolean {
  return caller.role !== 'auditor' || permit(caller.grants, [payloadTag], deps.clock.now().getTime()).allow
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
