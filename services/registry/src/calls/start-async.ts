import { Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallAnswer } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { carryOut, type Admitted } from './carry-out.ts'
import { endRefused } from './end-refused.ts'
import { completionOf } from './idempotency.ts'
import { rowOf } from './record-call.ts'
import { writeAnswer } from './write-answer.ts'

const mostRunning = 1000

/**
 * Starts a call that nobody waits for: every replica knows of it before its caller has its id, so that it is never forgotten.
 * What a key is answered with is that id, since it is the first answer.
 */
export async function startAsync(deps: Deps, call: CallInProgress, admitted: Admitted): Promise<CallAnswer> {
  if (deps.asyncCalls.running() >= mostRunning)
    throw new Refusal('BUSY', `${mostRunning} calls run in the background of this replica already.`, { headers: { 'Retry-After': '5' } })
  const told = { call_id: call.id, state: 'running', status: `/v1/calls/${call.id}`, cancel: `/v1/calls/${call.id}/cancel` }
  const { outcome: _, ...meta } = call.meta('ok')
  const answer = { kind: 'data', json: Buffer.from(JSON.stringify(told)), status: 202, meta } as const
  const written = writeAnswer(answer, { request_id: call.requestId })
  const headers = { location: told.status, 'preference-applied': 'respond-async' }
  const keyed = call.claimed()
  const row = rowOf(deps, call, { outcome: 'unknown', error: null, output: null, effect: 'possible' })
  const completes = keyed === undefined ? undefined : completionOf(deps, { keyed, callId: call.id, ...written, headers })
  await deps.asyncCalls.announce(row, completes).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.effect === 'none') throw error
    // Perhaps it was told of: then its row has to say how it ended, or it would be one of which nobody knows.
    call.intended()
    throw new Refusal('UNAVAILABLE', 'The database did not say whether it took the call, so it was not carried out.', {
      headers: { 'Retry-After': '2' },
    })
  })
  call.intended()
  call.answeredItsKey()
  if (keyed !== undefined) deps.claims.ended(keyed, call.id)
  deps.asyncCalls.run(call.id, async (signal) => {
    signal.addEventListener('abort', () => call.cancelled(), { once: true })
    await carryOut(deps, call, { ...admitted, signal }).catch((error: unknown) => endRefused(deps, call, error))
  })
  return { kind: 'written', ...written, headers }
}
