import { endpoints } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { callSkill } from '../../calls/call-skill.ts'
import { getCall } from '../../calls/get-call.ts'
import { listCalls } from '../../calls/list-calls.ts'
import { respond, respondCall } from '../respond.ts'
import { route, type Route } from '../route.ts'

/** Routes that call skills and read the call log. */
export const callRoutes: readonly Route[] = [
  route(endpoints.callSkill, async ({ c, deps, visit, body, problem, param }) => {
    if (deps.health.isStopping())
      throw new Refusal('UNAVAILABLE', 'This replica is stopping.', { headers: { 'retry-after': '1', connection: 'close' } })
    return respondCall(
      c,
      await callSkill(deps, visit, { name: param('name'), body, problem, idempotencyKey: c.req.header('idempotency-key') ?? null }),
    )
  }),
  route(endpoints.listCalls, async ({ c, deps, visit, query }) => respond(c, await listCalls(deps, visit.caller, query))),
  route(endpoints.getCall, async ({ c, deps, visit, param }) => respond(c, await getCall(deps, visit.caller, { id: param('id') }))),
]
