import { z } from 'zod'
import * as calls from './calls.ts'
import type { Endpoint } from './endpoint.ts'

const none = z.strictObject({})

/** Routes that call skills and read the log of calls. */
export const callEndpoints = {
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
} as const satisfies Record<string, Endpoint>
