import { z } from 'zod'
import * as access from './access.ts'
import * as calls from './calls.ts'
import * as skills from './skills.ts'

/** Who may ask: `anyone` needs no key; the others name the least role. */
export type EndpointAccess = 'anyone' | 'agent' | 'publisher' | 'operator' | 'auditor' | 'admin'

/** One route of the HTTP API, with the shapes it takes and gives. */
export type Endpoint = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: EndpointAccess
  readonly summary: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly data?: z.ZodType
}

const none = z.strictObject({})

/** Every route there is; routing, authentication, the OpenAPI document and `/docs` are made from this list. */
export const endpoints = {
  health: { method: 'GET', path: '/healthz', access: 'anyone', summary: 'Whether the process is alive.' },
  ready: { method: 'GET', path: '/readyz', access: 'anyone', summary: 'Whether a snapshot is loaded, and what is degraded.' },
  openapi: { method: 'GET', path: '/openapi.json', access: 'anyone', summary: 'This API as an OpenAPI 3.1 document.' },
  docs: { method: 'GET', path: '/docs', access: 'anyone', summary: 'This API as a page to read.' },
  metrics: { method: 'GET', path: '/metrics', access: 'auditor', summary: 'Counters and gauges in the Prometheus text format.' },

  listSkills: {
    method: 'GET',
    path: '/v1/skills',
    access: 'agent',
    summary: 'The skills the caller may use, each resolved to a version.',
    query: skills.ListSkillsQuery,
    data: skills.SkillList,
  },
  publishSkill: {
    method: 'POST',
    path: '/v1/skills',
    access: 'publisher',
    summary: 'Publishes a version from JSON, multipart files or a zip.',
    query: skills.PublishQuery,
    body: skills.PublishBody,
    data: skills.Published,
  },
  describeSkill: {
    method: 'GET',
    path: '/v1/skills/{name}',
    access: 'agent',
    summary: 'One skill: manifest, instructions, schemas and resolution.',
    query: skills.DescribeSkillQuery,
    data: skills.SkillDetail,
  },
  listVersions: {
    method: 'GET',
    path: '/v1/skills/{name}/versions',
    access: 'agent',
    summary: 'The versions of a skill the caller may see, newest first.',
    query: none,
    data: skills.VersionList,
  },
  describeVersion: {
    method: 'GET',
    path: '/v1/skills/{name}/versions/{version}',
    access: 'agent',
    summary: 'One exact version.',
    query: none,
    data: skills.SkillDetail,
  },
  readFile: {
    method: 'GET',
    path: '/v1/skills/{name}/versions/{version}/files/{path}',
    access: 'agent',
    summary: 'One file of a version, byte for byte.',
    query: none,
  },
  releaseVersion: {
    method: 'POST',
    path: '/v1/skills/{name}/versions/{version}/release',
    access: 'operator',
    summary: 'Makes a candidate released, and its line serve it when it is the newest.',
    query: none,
    body: skills.ReasonBody,
    data: skills.Released,
  },
  resolveSkills: {
    method: 'POST',
    path: '/v1/resolve',
    access: 'agent',
    summary: 'What each range resolves to for the caller, at one revision.',
    query: none,
    body: skills.ResolveBody,
    data: skills.ResolvedSet,
  },

  callSkill: {
    method: 'POST',
    path: '/v1/skills/{name}/calls',
    access: 'agent',
    summary: 'Calls a skill.',
    query: none,
    body: calls.CallBody,
    data: z.unknown(),
  },
  listCalls: {
    method: 'GET',
    path: '/v1/calls',
    access: 'agent',
    summary: 'The call log, newest first; an agent sees its own rows.',
    query: calls.ListCallsQuery,
    data: calls.CallList,
  },
  getCall: { method: 'GET', path: '/v1/calls/{id}', access: 'agent', summary: 'One call.', query: none, data: calls.CallRow },

  showSelf: {
    method: 'GET',
    path: '/v1/agents/self',
    access: 'agent',
    summary: 'Who the caller is, and what it holds.',
    query: none,
    data: access.Self,
  },
  declareRequirements: {
    method: 'PUT',
    path: '/v1/agents/self/requirements',
    access: 'agent',
    summary: 'Declares the ranges this instance of the agent works with.',
    query: none,
    body: skills.DeclareBody,
    data: skills.Declared,
  },
  createAgent: {
    method: 'POST',
    path: '/v1/agents',
    access: 'admin',
    summary: 'Registers an agent.',
    query: none,
    body: access.CreateAgentBody,
    data: access.Agent,
  },
  listAgents: {
    method: 'GET',
    path: '/v1/agents',
    access: 'admin',
    summary: 'The registered agents.',
    query: access.PageQuery,
    data: access.AgentList,
  },
  patchAgent: {
    method: 'PATCH',
    path: '/v1/agents/{id}',
    access: 'admin',
    summary: 'Changes an agent, or disables it.',
    query: none,
    body: access.PatchAgentBody,
    data: access.Agent,
  },
  createKey: {
    method: 'POST',
    path: '/v1/agents/{id}/keys',
    access: 'admin',
    summary: 'Makes a key; it is shown once.',
    query: none,
    body: access.CreateKeyBody,
    data: access.CreatedKey,
  },
  listKeys: {
    method: 'GET',
    path: '/v1/agents/{id}/keys',
    access: 'admin',
    summary: 'The keys of an agent, without their secrets.',
    query: none,
    data: access.KeyList,
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/agents/{id}/keys/{key}',
    access: 'admin',
    summary: 'Revokes a key, at once.',
    query: none,
    data: access.Removed,
  },
  createGrant: {
    method: 'POST',
    path: '/v1/agents/{id}/grants',
    access: 'admin',
    summary: 'Grants a permission tag or pattern, or denies one.',
    query: none,
    body: access.CreateGrantBody,
    data: access.Grant,
  },
  listGrants: {
    method: 'GET',
    path: '/v1/agents/{id}/grants',
    access: 'admin',
    summary: 'What an agent holds.',
    query: none,
    data: access.GrantList,
  },
  removeGrant: {
    method: 'DELETE',
    path: '/v1/agents/{id}/grants/{grant}',
    access: 'admin',
    summary: 'Takes a grant back, at once.',
    query: none,
    data: access.Removed,
  },
  createConnection: {
    method: 'POST',
    path: '/v1/connections',
    access: 'admin',
    summary: 'Names a base URL, with references to its credentials.',
    query: none,
    body: access.CreateConnectionBody,
    data: access.Connection,
  },
  listConnections: {
    method: 'GET',
    path: '/v1/connections',
    access: 'admin',
    summary: 'The named connections, without credentials.',
    query: none,
    data: access.ConnectionList,
  },
  removeConnection: {
    method: 'DELETE',
    path: '/v1/connections/{name}',
    access: 'admin',
    summary: 'Removes a connection.',
    query: none,
    data: access.Removed,
  },
} as const satisfies Record<string, Endpoint>

/** The name of a route. */
export type EndpointName = keyof typeof endpoints
