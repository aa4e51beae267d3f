import type { Detail, Endpoint } from '@repertoire/contract'
import { Refusal, requireRole, type JsonProblem } from '@repertoire/core'
import type { Hono } from 'hono'
import type { z } from 'zod'
import type { Visit } from '../visit.ts'
import { admit, rankOf } from './admission.ts'
import type { Ask, DoorEnv, HttpDeps } from './door.ts'
import { readJson } from './read-body.ts'
import { respondError } from './respond.ts'

type Shape<E extends Endpoint, K extends 'query' | 'body'> = E[K] extends z.ZodType ? z.output<E[K]> : undefined

/** What a handler is asked: who, with which query, body and path, already parsed. */
export type Asked<E extends Endpoint> = {
  readonly c: Ask
  readonly deps: HttpDeps
  readonly visit: Visit
  readonly query: Shape<E, 'query'>
  readonly body: Shape<E, 'body'>
  readonly problem: JsonProblem | undefined
  /** How long it waited to be let in, in milliseconds. */
  readonly queuedMs: number
  readonly param: (name: string) => string
}

/** A route: an endpoint of the contract and what answers it. */
export type Route = { readonly endpoint: Endpoint; readonly mount: (app: Hono<DoorEnv>, deps: HttpDeps) => void }

/** Puts an endpoint and its handler together. The body of a route that reads it itself stays unread. */
export function route<const E extends Endpoint>(
  endpoint: E,
  handle: (asked: Asked<E>) => Promise<Response> | Response,
  options: { readonly readsBodyItself?: boolean } = {},
): Route {
  const rank = rankOf(endpoint)
  return {
    endpoint,
    mount: (app, deps) => {
      const atRevision = holdingRevision(deps)
      app.on(endpoint.method, honoPath(endpoint.path), async (c) => {
        try {
          // One read is answered from one catalogue, so that what says revision N has content N.
          const held = endpoint.method === 'GET' ? atRevision() : deps
          c.set('deps', held)
          refuseNul(c.req.path, c.req.param() as Record<string, string>)
          // Before anything is read: whoever may not ask costs nothing.
          const visit = c.get('visit')
          if (endpoint.access !== 'anyone' && visit !== undefined) requireRole(visit.caller, endpoint.access)
          const query = parse(endpoint.query, queryOf(c), 'query')
          const read = endpoint.body !== undefined && options.readsBodyItself !== true ? await readJson(c) : undefined
          if (read?.problem !== undefined && !read.problem.path.startsWith('/arguments')) throw refuseProblem(read.problem)
          const body = read === undefined ? undefined : parse(endpoint.body, read.value, 'body')
          const enter = async (queuedMs: number): Promise<Response> =>
            handle({
              c,
              deps: held,
              visit: visit as Visit,
              query: query as Shape<E, 'query'>,
              body: body as Shape<E, 'body'>,
              problem: read?.problem,
              queuedMs,
              param: (name) => c.req.param(name) ?? '',
            })
          return await (rank === undefined ? enter(0) : admit(deps, rank, enter))
        } catch (error) {
          return respondError(c, error)
        }
      })
    },
  }
}

// One for each revision, not for each request: there are forty things in it.
function holdingRevision(deps: HttpDeps): () => HttpDeps {
  let held = { snapshot: deps.snapshot(), deps }
  return () => {
    const snapshot = deps.snapshot()
    if (held.snapshot !== snapshot || held.deps === deps) held = { snapshot, deps: { ...deps, snapshot: () => snapshot } }
    return held.deps
  }
}

/** A path of the contract as the router writes it: `{name}` is one segment, `{path}` all that follow. */
export function honoPath(path: string): string {
  return path.replace('{path}', ':path{.+}').replace(/\{(\w+)\}/g, ':$1')
}

// No name of ours holds U+0000, and the database takes none.
function refuseNul(path: string, params: Readonly<Record<string, string>>): void {
  if (path.includes('\0') || Object.values(params).some((value) => value.includes('\0')))
    throw new Refusal('INVALID_REQUEST', 'The address holds U+0000.', { hint: 'remove it', details: [{ path: '', rule: 'characters' }] })
}

function queryOf(c: Ask): Record<string, string> {
  if (!c.req.url.includes('?')) return {}
  const query: Record<string, string> = {}
  for (const [name, values] of Object.entries(c.req.queries())) {
    if (values.length > 1)
      throw new Refusal('INVALID_REQUEST', `The parameter ${name.slice(0, 80)} is given ${values.length} times.`, {
        hint: 'give it once',
        details: [{ path: `/${name.slice(0, 80)}`, rule: 'once' }],
      })
    const value = values[0] ?? ''
    if (name === '__proto__' || value.includes('\0'))
      throw new Refusal('INVALID_REQUEST', 'A parameter holds what no parameter can be.', {
        hint: 'remove it',
        details: [{ path: `/${name.slice(0, 80)}`, rule: 'characters' }],
      })
    query[name] = value
  }
  return query
}

/** Parses a value at the door; what does not fit is INVALID_REQUEST with every place named. */
export function parse(shape: z.ZodType | undefined, value: unknown, what: 'query' | 'body'): unknown {
  if (shape === undefined) return undefined
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const details: Detail[] = parsed.error.issues
    .slice(0, 20)
    .map((issue) => ({ path: `/${issue.path.map(String).join('/')}`, rule: issue.code, message: issue.message }))
  const first = parsed.error.issues[0]
  const where = first === undefined || first.path.length === 0 ? `the ${what}` : first.path.map(String).join('.')
  throw new Refusal('INVALID_REQUEST', `The ${what} does not have the shape this route takes.`, {
    hint: `${where.slice(0, 120)}: ${first?.message.slice(0, 300) ?? 'unknown'}`,
    details,
  })
}

function refuseProblem(problem: JsonProblem): Refusal {
  return new Refusal('INVALID_REQUEST', `The body cannot be taken: ${problem.message}.`, {
    hint: problem.fix,
    details: [{ path: problem.path, rule: problem.rule, fix: problem.fix }],
  })
}
