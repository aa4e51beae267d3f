import { limits } from '@repertoire/contract'
import { Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'
import type { CallAnswer, CallInput } from './call.ts'
import { checkOutput } from './check-output.ts'
import { cutResult, type Truncated } from './cut-result.ts'
import { executeCall } from './execute-call.ts'
import { finishCall } from './finish-call.ts'
import { keepResult } from './keep-result.ts'
import { readResult } from './read-result.ts'
import { intendCall } from './record-call.ts'
import { withholdAnswer } from './withhold-answer.ts'

/** A call that was admitted: what runs, with what, and what ends it early. */
export type Admitted = {
  readonly admission: Admission
  readonly args: Record<string, unknown>
  readonly input: CallInput
  readonly signal: AbortSignal | null
}

/** Carries an admitted call out: the intent where it may happen only once, the execution, its answer, and the durable row. */
export async function carryOut(deps: Deps, call: CallInProgress, admitted: Admitted): Promise<CallAnswer> {
  const { admission, args, input, signal } = admitted
  const { version } = admission.resolved
  if (deps.calls.isDown())
    throw new Refusal('LOG_UNAVAILABLE', 'The call log cannot take a row right now, so nothing was carried out.', {
      headers: { 'Retry-After': '2' },
    })
  if (call.happensOnce() && !call.hasIntent()) await intendCall(deps, call, 'once')
  call.starts()
  const executed = await executeCall(deps, call, { admission, args, signal })
  withholdAnswer(deps, call.visit, admission)
  if (executed.kind === 'skill_error') {
    const { code, message, effect } = executed.error
    return finishCall(deps, call, {
      end: { outcome: 'skill_error', error: { code, origin: 'skill', message }, output: null, effect },
      answer: { ...executed, meta: call.meta('skill_error') },
    })
  }
  const result = readResult(version, executed.json)
  checkOutput(call, version, result)
  const shown = await showResult(deps, call, {
    input,
    agentId: call.visit.caller.id,
    json: result.json,
    version: admission.resolved.version.manifest.max_result_bytes,
  })
  const effect = version.manifest.effects === 'read' ? 'none' : 'done'
  return finishCall(deps, call, {
    end: { outcome: 'ok', error: null, output: result.json, effect },
    answer: {
      kind: 'data',
      json: shown.json,
      meta: { ...call.meta('ok'), ...(shown.truncated === undefined ? {} : { truncated: shown.truncated }) },
    },
  })
}

type ToShow = { readonly input: CallInput; readonly agentId: string; readonly json: Uint8Array; readonly version: number | undefined }

// Whole, or a preview with the address of the whole; what nobody waits for is kept in any case.
async function showResult(
  deps: Deps,
  call: CallInProgress,
  { input, agentId, json, version }: ToShow,
): Promise<{ readonly json: Uint8Array; readonly truncated?: Truncated }> {
  const allowed = input.body.max_result_bytes ?? version ?? limits.resultBytes
  // What is kept for a key has to stay of a size that can be kept.
  const maxBytes = call.claimed() === undefined ? allowed : Math.min(allowed, limits.resultBytes)
  if (json.byteLength <= maxBytes && !input.isAsync) return { json }
  const next = await keepResult(deps, call, { agentId, json })
  if (json.byteLength <= maxBytes) return { json }
  call.warn({
    code: 'result_cut',
    message: `The result has ${json.byteLength} bytes, more than the ${maxBytes} that were allowed; only a preview is shown.`,
  })
  return cutResult(json, maxBytes, next)
}
