import { endpoints, errorCatalogue, type Endpoint } from '@repertoire/contract'
import { z } from 'zod'

let document: object | undefined

/** The API as an OpenAPI 3.1 document, made from the endpoint list once. */
export function openApiDocument(): object {
  document ??= buildDocument()
  return document
}

function buildDocument(): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, endpoint] of Object.entries(endpoints as Record<string, Endpoint>)) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(name, endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Repertoire',
      version: '1',
      description: "The registry where a company's agents get their skills. Every answer under /v1 is an envelope.",
    },
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key, rep_<kind>_…' } },
      schemas: { Error: errorSchema() },
    },
  }
}

function operation(name: string, endpoint: Endpoint): object {
  const isPublish = name === 'publishSkill'
  return {
    operationId: name,
    summary: endpoint.summary,
    'x-access': endpoint.access,
    security: endpoint.access === 'anyone' ? [] : [{ key: [] }],
    parameters: [...pathParameters(endpoint.path), ...queryParameters(endpoint.query), ...headerParameters(endpoint)],
    ...(endpoint.body === undefined
      ? {}
      : {
          requestBody: {
            required: endpoint.method !== 'POST' || isPublish,
            content: {
              'application/json': { schema: jsonSchema(endpoint.body, 'input') },
              ...(isPublish ? { 'application/zip': {}, 'multipart/form-data': {} } : {}),
            },
          },
        }),
    responses: {
      [successStatus(name)]: {
        description: 'The answer',
        ...(endpoint.data === undefined
          ? {}
          : { content: { 'application/json': { schema: envelope(jsonSchema(endpoint.data, 'output')) } } }),
      },
      ...(endpoint.access !== 'anyone'
        ? { default: { description: 'A refusal', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } } }
        : {}),
    },
  }
}

function successStatus(name: string): string {
  return name === 'publishSkill' || (name.startsWith('create') && name !== 'create') ? '201' : '200'
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({ name: match[1], in: 'path', required: true, schema: { type: 'string' } }))
}

function queryParameters(shape: z.ZodType | undefined): object[] {
  if (shape === undefined) return []
  const schema = jsonSchema(shape, 'input') as { properties?: Record<string, object>; required?: string[] }
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) === true,
    schema: property,
  }))
}

// What every route of an agent reads beside its path, query and body.
const agentHeaders: Readonly<Record<string, string>> = {
  'Repertoire-On-Behalf-Of': 'A token of the configured issuer for the user that is asked for: both have to be allowed.',
  'Repertoire-Requires': 'Ranges by skill, `query-order@^1.2, send-email@~1.0`; they narrow what is resolved.',
  'Repertoire-Instance': 'The instance whose declared ranges bind; `default` unless given.',
  'Repertoire-Session': 'The session, a unit that rollouts may randomise over; it is in the row.',
  'Repertoire-Tenant': "The tenant, likewise; the agent's own wins.",
}

function headerParameters(endpoint: Endpoint): object[] {
  if (endpoint.access !== 'agent') return []
  const own: Record<string, string> =
    endpoint.path.endsWith('/calls') && endpoint.method === 'POST'
      ? {
          'Idempotency-Key': 'The same key and request again get the first answer, byte for byte, for a day.',
          'Repertoire-Timeout-Ms': "The caller's own deadline, in milliseconds.",
          Prefer: '`respond-async` answers with 202 and a call id.',
        }
      : {}
  return Object.entries({ ...agentHeaders, ...own }).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', maxLength: /Requires|Behalf/.test(name) ? 16_384 : 256 },
  }))
}

function jsonSchema(shape: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' }) as Record<string, unknown>
  return schema
}

function envelope(data: object): object {
  return {
    type: 'object',
    required: ['ok', 'data', 'error', 'meta'],
    properties: { ok: { const: true }, data, error: { type: 'null' }, meta: { type: 'object' } },
  }
}

function errorSchema(): object {
  const codes = Object.keys(errorCatalogue)
  return {
    type: 'object',
    required: ['ok', 'data', 'error', 'meta'],
    properties: {
      ok: { const: false },
      data: { type: 'null' },
      meta: { type: 'object' },
      error: {
        type: 'object',
        required: ['code', 'origin', 'effect', 'next', 'message', 'details'],
        properties: {
          code: { type: 'string', description: `Of the registry: ${codes.join(', ')}. With origin skill, a code of the skill's own.` },
          origin: { enum: ['registry', 'skill', 'upstream'] },
          effect: { enum: ['none', 'possible', 'done'] },
          next: { enum: ['fix_input', 'retry', 'reload', 'ask_human', 'give_up'] },
          message: { type: 'string' },
          hint: { type: 'string' },
          details: { type: 'array', items: { type: 'object' } },
        },
      },
    },
  }
}
