import { endpoints, limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { callSkill } from '../../calls/call-skill.ts'
import { cancelCall } from '../../calls/cancel-call.ts'
import { exportCalls } from '../../calls/export-calls.ts'
import { giveFeedback } from '../../calls/give-feedback.ts'
import { getCall } from '../../calls/get-call.ts'
import { listCalls } from '../../calls/list-calls.ts'
import { replayCall } from '../../calls/replay-call.ts'
import { settleCall } from '../../calls/settle-call.ts'
import { showResult } from '../../calls/show-result.ts'
import { tailCalls } from '../../calls/tail-calls.ts'
import type { Ask } from '../door.ts'
import { headerOf } from '../header-of.ts'
import { respond, respondCall, respondJson } from '../respond.ts'
import { route, type Route } from '../route.ts'
import { respondTail } from '../server-sent-events.ts'
import { streamOf } from '../stream.ts'

/** Routes that call skills and read the call log. */
export const callRoutes: readonly Route[] = [
  route(endpoints.callSkill, async ({ c, deps, visit, body, problem, queuedMs, param }) => {
    refuseWhileStopping(deps.health.isStopping())
    const asked = {
      idempotencyKey: headerOf(c, 'idempotency-key') ?? null,
      timeoutMs: timeoutOf(c),
      isAsync: /(^|[,;\s])respond-async([,;\s]|$)/i.test(headerOf(c, 'prefer') ?? ''),
      replayOf: null,
      queuedMs,
    }
    return respondCall(c, await callSkill(deps, visit, { name: param('name'), body, problem, ...asked }))
  }),
  route(endpoints.listCalls, async ({ c, deps, visit, query }) => {
    const { list, ...said } = await listCalls(deps, visit.caller, query)
    return respond(c, list, said)
  }),
  route(endpoints.tailCalls, async ({ c, deps, visit, query }) => {
    const after = lastEventOf(c) ?? query.after
    const asked = { query: { ...query, after }, isStopping: deps.health.isStopping }
    return respondTail(await tailCalls(deps, visit, asked), c.get('requestId'))
  }),
  route(endpoints.exportCalls, async ({ c, deps, visit, query }) => {
    const { type, filename, pieces, close } = await exportCalls(deps, visit, { query, isStopping: deps.health.isStopping })
    const next = async (): Promise<string | undefined> => (await pieces.next()).value as string | undefined
    // Whoever goes away ends what is being written, wherever that is.
    const leave = (): void => {
      close()
      void pieces.return(undefined)
    }
    return new Response(streamOf({ next, close: leave }), {
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="${filename}"`,
        'cache-control': 'private, no-store',
        'repertoire-request-id': c.get('requestId'),
      },
    })
  }),
  route(endpoints.giveFeedback, async ({ c, deps, visit, body, param }) =>
    respond(c, await giveFeedback(deps, visit.caller, { id: param('id'), said: body })),
  ),
  route(endpoints.getCall, async ({ c, deps, visit, query, param }) =>
    respond(c, await getCall(deps, visit.caller, { id: param('id'), waitMs: (query.wait ?? 0) * 1000 })),
  ),
  route(endpoints.readResult, async ({ c, deps, visit, query, param }) =>
    respondJson(c, await showResult(deps, visit.caller, { id: param('id'), ...query })),
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

// A browser sends back what it heard last.
function lastEventOf(c: Ask): number | undefined {
  const text = c.req.header('last-event-id')
  if (text === undefined || text === '') return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal('INVALID_REQUEST', 'Last-Event-ID is not one that this stream gave out.', {
    hint: 'leave it out to hear what comes from now on',
    details: [{ path: '/last-event-id', rule: 'cursor' }],
  })
}

function refuseWhileStopping(isStopping: boolean): void {
  if (isStopping) throw new Refusal('UNAVAILABLE', 'This replica is stopping.', { headers: { 'retry-after': '1', connection: 'close' } })
}

// The caller's own deadline for everything that is done for it.
function timeoutOf(c: Ask): number | null {
  const text = headerOf(c, 'repertoire-timeout-ms')
  if (text === undefined) return null
  const ms = Number(text)
  if (/^\d{1,9}$/.test(text) && ms >= 1) return Math.min(ms, limits.timeoutMs)
  throw new Refusal('INVALID_REQUEST', 'Repertoire-Timeout-Ms is a whole number of milliseconds from 1 on.', {
    details: [{ path: '/repertoire-timeout-ms', rule: 'integer' }],
  })
}
