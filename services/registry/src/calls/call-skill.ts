import { limits } from '@repertoire/contract'
import { admit, authorize, contextOf, denied, honourExpected, isHighRisk, isUnconfirmed, Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'
import { beginCall, type CallInProgress } from './call-in-progress.ts'
import type { CallAnswer, CallInput } from './call.ts'
import { checkOutput } from './check-output.ts'
import { cutResult } from './cut-result.ts'
import { executeOnce } from './execute-once.ts'
import { readResult } from './read-result.ts'
import { recordCall } from './record-call.ts'
import { withholdAnswer } from './withhold-answer.ts'
import { checkArguments } from './check-arguments.ts'

/** Calls a skill: the whole story, from resolution to the durable row. */
export async function callSkill(deps: Deps, visit: Visit, input: CallInput): Promise<CallAnswer> {
  const call = beginCall(deps, visit, input)
  try {
    const admission = resolveCall(visit, input, call)
    if (!admission.authorization.mayCall) throw denied(admission.skill, admission.authorization, visit.caller)
    refuseRiskWhenUnconfirmed(visit, admission)
    const args = checkArguments(call, admission.resolved.version, input)
    if (input.body.dry_run) return await finishDryRun(deps, call, { admission, args })
    refuseKeyedOnce(call, admission, input.idempotencyKey)
    if (deps.calls.isDown())
      throw new Refusal('LOG_UNAVAILABLE', 'The call log cannot take a row right now, so nothing was carried out.', {
        headers: { 'Retry-After': '2' },
      })
    call.starts()
    const executed = await executeOnce(deps, call, { admission, args, body: input.body })
    withholdAnswer(deps, visit, admission)
    if (executed.kind === 'skill_error') {
      await recordCall(deps, call, {
        outcome: 'skill_error',
        error: { code: executed.error.code, origin: 'skill', message: executed.error.message },
        output: null,
        effect: executed.error.effect,
      })
      return { ...executed, meta: call.meta('skill_error') }
    }
    const result = readResult(admission.resolved.version, executed.json)
    checkOutput(call, admission.resolved.version, result)
    const maxBytes = input.body.max_result_bytes ?? admission.resolved.version.manifest.max_result_bytes ?? limits.resultBytes
    const cut = cutResult(result.json, maxBytes)
    if (cut.truncated !== undefined)
      call.warn({
        code: 'result_cut',
        message: `The result has ${result.json.byteLength} bytes, more than the ${maxBytes} that were allowed; only a preview is shown.`,
      })
    await recordCall(deps, call, {
      outcome: 'ok',
      error: null,
      output: result.json,
      effect: admission.resolved.version.manifest.effects === 'read' ? 'none' : 'done',
    })
    return {
      kind: 'data',
      json: cut.json,
      meta: { ...call.meta('ok'), ...(cut.truncated === undefined ? {} : { truncated: cut.truncated }) },
    }
  } catch (error) {
    const refusal = adviseAgainstRepeating(call, error instanceof Refusal ? error : asBug(call, error))
    if (error instanceof Refusal && error.code === 'LOG_UNAVAILABLE') return { kind: 'refused', refusal, meta: call.meta('registry_error') }
    const unlogged = await recordCall(deps, call, call.endingOf(refusal)).then(
      () => undefined,
      (failure: unknown) => failure,
    )
    if (unlogged !== undefined && !(unlogged instanceof Refusal)) throw unlogged
    if (unlogged !== undefined)
      return { kind: 'refused', refusal: adviseAgainstRepeating(call, unlogged), meta: call.meta('registry_error') }
    return { kind: 'refused', refusal, meta: call.meta(call.endingOf(refusal).outcome) }
  }
}

// A fault of ours after the skill has begun must not read as if nothing had happened.
function asBug(call: CallInProgress, cause: unknown): Refusal {
  const refusal = new Refusal('INTERNAL', 'Something went wrong in the registry.', { effect: call.hasStarted() ? 'possible' : 'none' })
  refusal.cause = cause
  return refusal
}

// "Try again" is bad advice for what happens once and may have happened.
function adviseAgainstRepeating(call: CallInProgress, refusal: Refusal): Refusal {
  if (refusal.effect === 'none' || refusal.next !== 'retry' || !call.happensOnce()) return refusal
  const { hint, details, effect, headers } = refusal
  const advised = new Refusal(refusal.code, refusal.message, {
    hint: hint ?? 'it may have had its effect: look before you call again',
    details,
    effect,
    headers,
    next: 'ask_human',
  })
  advised.cause = refusal.cause
  return advised
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

// Until claims exist, a key that promises "once" cannot be honoured, and promising it silently would be worse than a refusal.
function refuseKeyedOnce(call: CallInProgress, admission: Admission, key: string | null): void {
  if (key === null) return
  if (admission.resolved.version.manifest.effects === 'once' && admission.resolved.version.kind !== 'playbook') {
    throw new Refusal('UNAVAILABLE', 'This registry cannot deduplicate calls of a skill with effects: once yet.', {
      hint: 'call without Idempotency-Key, or check for the effect before you call again',
    })
  }
  call.warn({ code: 'not_deduplicated', message: 'The Idempotency-Key was not used; the same key again runs the skill again.' })
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
