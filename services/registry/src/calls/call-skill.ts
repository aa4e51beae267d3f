import { admit, authorize, contextOf, denied, honourExpected, isHighRisk, isUnconfirmed, Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'
import { beginCall, type CallInProgress } from './call-in-progress.ts'
import type { CallAnswer, CallInput } from './call.ts'
import { carryOut } from './carry-out.ts'
import { checkArguments } from './check-arguments.ts'
import { claimKey } from './claim-key.ts'
import { endRefused } from './end-refused.ts'
import { readKey } from './idempotency.ts'
import { recordCall } from './record-call.ts'
import { spendQuotas } from './spend-quotas.ts'
import { startAsync } from './start-async.ts'
import { tellFirstAnswer } from './tell-first-answer.ts'

/** Calls a skill: the whole story, from the key over resolution to the durable row. */
export async function callSkill(deps: Deps, visit: Visit, input: CallInput): Promise<CallAnswer> {
  const call = beginCall(deps, visit, input)
  try {
    const keyed = readKey(deps, visit, input)
    const first = keyed === undefined ? 'new' : await tellFirstAnswer(deps, visit, keyed)
    if (typeof first === 'object') return first
    const admission = resolveCall(visit, input, call)
    if (!admission.authorization.mayCall) throw denied(admission.skill, admission.authorization, visit.caller)
    if (input.onlyReads === true) refuseToDoAnything(admission)
    refuseRiskWhenUnconfirmed(visit, admission)
    const args = checkArguments(call, admission.resolved.version, input)
    if (input.body.dry_run) return await finishDryRun(deps, call, { admission, args })
    const spent = spendQuotas(deps, visit.caller, admission)
    const other =
      keyed === undefined ? undefined : await claimKey(deps, call, { keyed, isAway: first === 'away', admission }).catch(spent.undo)
    if (other !== undefined) {
      spent.takeBack()
      return other
    }
    const admitted = { admission, args, input, signal: null }
    return await (input.isAsync ? startAsync(deps, call, admitted) : carryOut(deps, call, admitted)).catch((error: unknown) => {
      if (!call.hasStarted()) spent.takeBack()
      throw error
    })
  } catch (error) {
    return endRefused(deps, call, error)
  }
}

function resolveCall(visit: Visit, input: CallInput, call: CallInProgress): Admission {
  const { name, body } = input
  const asking = askingOf(visit, call.startedAt.getTime(), {
    range: body.range,
    session: body.session,
    tenant: body.tenant,
    callId: call.id,
  })
  const admission = admit(call.snapshot, name, asking)
  const { expect_version: expected } = body
  const resolved =
    expected === undefined
      ? admission.resolved
      : honourExpected(admission.skill, { version: expected, ranges: admission.ranges, resolved: admission.resolved }, contextOf(asking))
  // Another version may need other tags: whoever expects one is judged by that one.
  const authorization = authorize(visit.caller, { skill: admission.skill, version: resolved.version }, asking.nowMs)
  const admitted = { ...admission, resolved, authorization }
  call.resolvedTo(admitted)
  return admitted
}

function refuseToDoAnything({ skill, resolved: { version } }: Admission): void {
  const { effects } = version.manifest
  if (effects === 'read') return
  throw new Refusal('PERMISSION_DENIED', `${skill.name} ${version.version} has effects ${effects}; a probe only reads.`, {
    hint: 'publish a version with effects: read',
    details: [{ rule: 'effects', expected: 'read', got: effects }],
  })
}

// A grant or a version may have been taken back without this replica hearing of it; what could do harm waits for certainty.
function refuseRiskWhenUnconfirmed(visit: Visit, { skill, resolved }: Admission): void {
  const risky = resolved.version.manifest.permission.filter(isHighRisk)
  if (risky.length === 0 || !isUnconfirmed(visit)) return
  throw new Refusal(
    'SNAPSHOT_STALE',
    `The database is away, and ${skill.name} needs ${risky.join(', ')}: such skills are not called on what may no longer hold.`,
    {
      headers: { 'Retry-After': '5' },
    },
  )
}

async function finishDryRun(
  deps: Deps,
  call: CallInProgress,
  { admission, args }: { readonly admission: Admission; readonly args: Record<string, unknown> },
): Promise<CallAnswer> {
  const { version, via } = admission.resolved
  await recordCall(deps, call, { outcome: 'ok', error: null, output: null, effect: 'none' })
  const answer = { would_call: { skill: admission.skill.name, version: version.version, via }, arguments: args }
  return { kind: 'data', json: Buffer.from(JSON.stringify(answer)), meta: { ...call.meta('ok'), dry_run: true } }
}
