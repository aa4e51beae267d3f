import { CallBody, type ReplayBody } from '@repertoire/contract'
import { hasRole, Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import { callSkill } from './call-skill.ts'
import type { CallAnswer } from './call.ts'
import { noCall, requireOwn } from './get-call.ts'
import { isInputWhole } from './is-input-whole.ts'

/** Which call, and how it is to be repeated. */
export type ReplayInput = ReplayBody & { readonly id: string }

/**
 * Repeats a recorded call: everything is decided anew by what holds now and by the rights of whoever asks. Only its own agent
 * and operators may, and only when what it was given is there as it was.
 */
export async function replayCall(deps: Deps, visit: Visit, { id, dry_run: isDry, range }: ReplayInput): Promise<CallAnswer> {
  const { caller } = visit
  const row = requireOwn(caller, id, await deps.calls.get(id))
  if (row.agent_id !== caller.id && !hasRole(caller, 'operator')) throw noCall(id)
  if (!isInputWhole(deps, row))
    throw new Refusal('NOT_REPLAYABLE', 'What this call was given is not kept as it was: it was cut, redacted, or is past its days.', {
      hint: 'call the skill anew',
    })
  const asked = range ?? (row.requested_range === null || row.requested_range.length > 128 ? undefined : row.requested_range)
  const body = CallBody.parse({
    arguments: row.input,
    dry_run: isDry,
    ...(asked === undefined ? {} : { range: asked }),
    ...(row.intent === null ? {} : { intent: row.intent }),
    labels: row.labels,
  })
  return callSkill(deps, visit, {
    name: row.skill,
    body,
    problem: undefined,
    idempotencyKey: null,
    timeoutMs: null,
    isAsync: false,
    replayOf: row.call_id,
    queuedMs: 0,
  })
}
