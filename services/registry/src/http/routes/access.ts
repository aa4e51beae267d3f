import { endpoints } from '@repertoire/contract'
import { changeAgent } from '../../access/change-agent.ts'
import { createAgent } from '../../access/create-agent.ts'
import { createGrant } from '../../access/create-grant.ts'
import { createKey } from '../../access/create-key.ts'
import { createQuota } from '../../access/create-quota.ts'
import { explainAccess } from '../../access/explain-access.ts'
import { listAgents } from '../../access/list-agents.ts'
import { listGrants } from '../../access/list-grants.ts'
import { listKeys } from '../../access/list-keys.ts'
import { listQuotas } from '../../access/list-quotas.ts'
import { removeGrant } from '../../access/remove-grant.ts'
import { removeQuota } from '../../access/remove-quota.ts'
import { revokeKey } from '../../access/revoke-key.ts'
import { rotateKey } from '../../access/rotate-key.ts'
import { showSelf } from '../../access/show-self.ts'
import { listAudit } from '../../audit/list-audit.ts'
import { verifyAudit } from '../../audit/verify-audit.ts'
import { createConnection } from '../../connections/create-connection.ts'
import { listConnections } from '../../connections/list-connections.ts'
import { removeConnection } from '../../connections/remove-connection.ts'
import { respond } from '../respond.ts'
import { route, type Route } from '../route.ts'

/** Routes that say who may do what. */
export const accessRoutes: readonly Route[] = [
  route(endpoints.showSelf, ({ c, deps, visit }) => respond(c, showSelf(deps, visit))),
  route(endpoints.createAgent, async ({ c, deps, visit, body }) =>
    respond(c, await createAgent(deps, visit.caller, body), { status: 201 }),
  ),
  route(endpoints.listAgents, async ({ c, deps, visit, query }) => respond(c, await listAgents(deps, visit.caller, query))),
  route(endpoints.patchAgent, async ({ c, deps, visit, body, param }) =>
    respond(c, await changeAgent(deps, visit.caller, { id: param('id'), ...body })),
  ),
  route(endpoints.createKey, async ({ c, deps, visit, body, param }) =>
    respond(c, await createKey(deps, visit.caller, { agentId: param('id'), expiresInDays: body.expires_in_days }), { status: 201 }),
  ),
  route(endpoints.listKeys, async ({ c, deps, visit, param }) => respond(c, await listKeys(deps, visit.caller, { agentId: param('id') }))),
  route(endpoints.revokeKey, async ({ c, deps, visit, param }) =>
    respond(c, await revokeKey(deps, visit.caller, { agentId: param('id'), keyId: param('key') })),
  ),
  route(endpoints.rotateKey, async ({ c, deps, visit, body, param }) => {
    const input = {
      agentId: param('id'),
      keyId: param('key'),
      overlapHours: body.overlap_hours,
      expiresInDays: body.expires_in_days,
    }
    return respond(c, await rotateKey(deps, visit.caller, input), { status: 201 })
  }),
  route(endpoints.createGrant, async ({ c, deps, visit, body, param }) => {
    const { grant, warnings } = await createGrant(deps, visit.caller, { agentId: param('id'), ...body })
    return respond(c, grant, { status: 201, warnings })
  }),
  route(endpoints.listGrants, async ({ c, deps, visit, param }) =>
    respond(c, await listGrants(deps, visit.caller, { agentId: param('id') })),
  ),
  route(endpoints.removeGrant, async ({ c, deps, visit, param }) => {
    const { removed, warnings } = await removeGrant(deps, visit.caller, { agentId: param('id'), grantId: param('grant') })
    return respond(c, removed, { warnings })
  }),
  route(endpoints.explainAccess, async ({ c, deps, visit, query, param }) => {
    const input = { agentId: param('id'), skill: query.skill, range: query.range, onBehalfOf: query.on_behalf_of }
    return respond(c, await explainAccess(deps, visit.caller, input))
  }),
  route(endpoints.listAudit, async ({ c, deps, visit, query }) => respond(c, await listAudit(deps, visit.caller, query))),
  route(endpoints.verifyAudit, async ({ c, deps, visit }) => respond(c, await verifyAudit(deps, visit.caller))),
  route(endpoints.createConnection, async ({ c, deps, visit, body }) =>
    respond(c, await createConnection(deps, visit.caller, body), { status: 201 }),
  ),
  route(endpoints.listConnections, ({ c, deps, visit }) => respond(c, listConnections(deps, visit.caller))),
  route(endpoints.removeConnection, async ({ c, deps, visit, param }) =>
    respond(c, await removeConnection(deps, visit.caller, { name: param('name') })),
  ),
  route(endpoints.createQuota, async ({ c, deps, visit, body }) =>
    respond(c, await createQuota(deps, visit.caller, body), { status: 201 }),
  ),
  route(endpoints.listQuotas, async ({ c, deps, visit, query }) => respond(c, await listQuotas(deps, visit.caller, query))),
  route(endpoints.removeQuota, async ({ c, deps, visit, param }) => respond(c, await removeQuota(deps, visit.caller, { id: param('id') }))),
]
