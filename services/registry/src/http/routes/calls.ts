import { endpoints, limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { callSkill } from '../../calls/call-skill.ts'
import { cancelCall } from '../../calls/cancel-call.ts'
import { getCall } from '../../calls/get-call.ts'
import { listCalls } from '../../calls/list-calls.ts'
import { replayCall } from '../../calls/replay-call.ts'
import { settleCall } from '../../calls/settle-call.ts'
import { showResult } from '../../calls/show-result.ts'
import type { Ask } from '../door.ts'
import { respond, respondCall } from '../respond.ts'
import { route, type Route } from '../route.ts'

/** Routes that call skills and read the call log. */
export const callRoutes: readonly Route[] = [
  route(endpoints.callSkill, async ({ c, deps, visit, body, problem, queuedMs, param }) => {
    refuseWhileStopping(deps.health.isStopping())
    const asked = {
      idempotencyKey: c.req.header('idempotency-key') ?? null,
      timeoutMs: timeoutOf(c),
      isAsync: /(^|[,;\s])respond-async([,;\s]|$)/i.test(c.req.header('prefer') ?? ''),
      replayOf: null,
      queuedMs,
    }
    return respondCall(c, await callSkill(deps, visit, { name: param('name'), body, problem, ...asked }))
  }),
  route(endpoints.listCalls, async ({ c, deps, visit, query }) => {
    const { list, ...said } = await listCalls(deps, visit.caller, query)
    return respond(c, list, said)
  }),
  route(endpoints.getCall, async ({ c, deps, visit, query, param }) =>
    respond(c, await getCall(deps, visit.caller, { id: param('id'), waitMs: (query.wait ?? 0) * 1000 })),
  ),
  route(endpoints.readResult, async ({ c, deps, visit, query, param }) =>
    respond(c, await showResult(deps, visit.caller, { id: param('id'), ...query })),
  ),
  route(endpoints.cancelCall, async ({ c, deps, visit, param }) => respond(c, await cancelCall(deps, visit.caller, { id: param('id') }))),
  route(endpoints.settleCall, async ({ c, deps, visit, body, param }) =>
    respond(c, await settleCall(deps, visit.caller, { id: param('id'), ...body })),
  ),
  route(endpoints.replayCall, async ({ c, deps, visit, body, param }) => {
    refuseWhileStopping(deps.health.isStopping())
    return respondCall(c, await replayCall(deps, visit, { id: param('id'), ...body }))
  }),
]

function refuseWhileStopping(isStopping: boolean): void {
  if (isStopping) throw new Refusal('UNAVAILABLE', 'This replica is stopping.', { headers: { 'retry-after': '1', connection: 'close' } })
}

// The caller's own deadline for everything that is done for it.
function timeoutOf(c: Ask): number | null {
  const text = c.req.header('repertoire-timeout-ms')
  if (text === undefined) return null
  const ms = Number(text)
  if (/^\d{1,9}$/.test(text) && ms >= 1) return Math.min(ms, limits.timeoutMs)
  throw new Refusal('INVALID_REQUEST', 'Repertoire-Timeout-Ms is a whole number of milliseconds from 1 on.', {
    details: [{ path: '/repertoire-timeout-ms', rule: 'integer' }],
  })
}
