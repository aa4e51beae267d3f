import { endpoints } from '@repertoire/contract'
import { isSkillName, nameKey, parseRange, Refusal } from '@repertoire/core'
import type { MiddlewareHandler } from 'hono'
import type { Visit } from '../visit.ts'
import type { Ask, DoorEnv, HttpDeps } from './door.ts'
import { headerOf, type ListedHeader } from './header-of.ts'
import { identify, type Identity } from './identify.ts'
import { narrowIdentity, onBehalfOfHeader } from './on-behalf-of.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'
import { readTraceparent } from './traceparent.ts'
import { respondError, respondUnknown } from './respond.ts'

const openPaths = new Set<string>(
  Object.values(endpoints)
    .filter((endpoint) => endpoint.access === 'anyone')
    .map((endpoint) => endpoint.path),
)
const maxHeaderValue = 256

/** The one door: makes a visit out of a request or answers 401, on every path but those that need no key. */
export function authenticate(deps: HttpDeps): MiddlewareHandler<DoorEnv> {
  const { agentRate } = deps.settings
  const agents = createRateLimit({ perSecond: agentRate, burst: agentRate * 2 }, 'Too many requests of this agent')
  const managers = createRateLimit({ perSecond: agentRate * 4, burst: agentRate * 8 }, 'Too many requests of this caller')
  const strangers = createRateLimit({ perSecond: agentRate, burst: agentRate * 2 }, 'Too many requests without a valid key')
  const limitOf = (role: string): RateLimit => (role === 'agent' ? agents : managers)
  // Whoever tries keys is slowed down by address; who sits behind the same address with a good key is not.
  const answerUnknown = (c: Ask, refusal: Refusal): Response => {
    try {
      strangers.take(addressOf(c), performance.now())
      deps.refusals.note(refusal.code, undefined)
      return respondUnknown(refusal)
    } catch (error) {
      return respondError(c, error)
    }
  }
  return async (c, next) => {
    c.set('deps', deps)
    c.set('requestId', deps.ids.next())
    if (openPaths.has(c.req.path)) return next()
    try {
      // A stranger that has used up its attempts costs neither a checksum nor a question to an issuer.
      const authorization = c.req.header('authorization')
      if (showsToken(c, authorization)) strangers.requireRoom(addressOf(c), performance.now())
      const identifying = identifyAt(c, authorization, deps)
      // Keys are known at once; only a token may have to wait for its issuer.
      const visit = visitOf(c, deps, identifying instanceof Promise ? await identifying : identifying)
      c.set('visit', visit)
      if (!stepsBack(c, visit)) limitOf(visit.caller.role).take(visit.caller.id, performance.now())
    } catch (error) {
      return error instanceof Refusal && error.code === 'UNAUTHENTICATED' ? answerUnknown(c, error) : respondError(c, error)
    }
    await next()
    const ending = endingOf(c, deps)
    if (ending !== undefined) c.res.headers.set('repertoire-key-warning', ending)
    return undefined
  }
}

function identifyAt(c: Ask, authorization: string | undefined, deps: HttpDeps): Identity | Promise<Identity> {
  // Keys and grants may have been taken back meanwhile: past the limit nothing that is known here counts.
  if (deps.unconfirmedMs() > deps.settings.staleLimitMs)
    throw new Refusal('SNAPSHOT_STALE', 'The database has been away for too long; this replica does not know any more what holds.', {
      headers: { 'Retry-After': '5' },
    })
  const identifying = identify(authorization, deps)
  const token = headerOf(c, onBehalfOfHeader)
  if (token === undefined) return identifying
  return Promise.resolve(identifying).then((identity) => narrowIdentity(identity, token, deps))
}

function showsToken(c: Ask, authorization: string | undefined): boolean {
  return authorization?.startsWith('Bearer rep_') !== true || headerOf(c, onBehalfOfHeader) !== undefined
}

function visitOf(c: Ask, deps: HttpDeps, { caller, keyHash, callerNow }: Identity): Visit {
  const snapshot = deps.snapshot()
  c.set('keyHash', keyHash)
  const instance = short(c, 'repertoire-instance') ?? 'default'
  const declared = snapshot.requirements.get(caller.id)?.get(instance)
  const asked = requiresOf(headerOf(c, 'repertoire-requires'))
  return {
    requestId: c.get('requestId'),
    caller,
    instance,
    session: short(c, 'repertoire-session'),
    tenant: short(c, 'repertoire-tenant'),
    traceparent: readTraceparent(headerOf(c, 'traceparent')),
    standing: [asked, declared].filter((ranges) => ranges !== undefined),
    unconfirmedMs: deps.unconfirmedMs(),
    callerNow,
  }
}

// Taking something away is never slowed down, for those who may.
function stepsBack(c: Ask, { caller }: Visit): boolean {
  if (caller.role !== 'operator' && caller.role !== 'admin') return false
  return (c.req.method === 'POST' && /\/(rollback|pause|block|revert)$/.test(c.req.path)) || c.req.method === 'DELETE'
}

function addressOf(c: Ask): string {
  const incoming = (c.env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined)?.incoming
  return incoming?.socket?.remoteAddress ?? 'unknown'
}

// A key that was rotated, or that ends within the week, says so with every answer, in time for somebody to act.
function endingOf(c: Ask, deps: HttpDeps): string | undefined {
  const hash = c.get('keyHash')
  const key = hash === undefined ? undefined : deps.snapshot().keys.get(hash)
  if (key === undefined || key.expiresAt === null) return undefined
  if (!key.rotated && key.expiresAt - deps.clock.now().getTime() >= weekMs) return undefined
  const at = new Date(key.expiresAt).toISOString()
  return key.rotated ? `this key was rotated and ends at ${at}: use the new one` : `this key ends at ${at}: rotate it`
}

const weekMs = 7 * 86_400_000

function short(c: Ask, name: ListedHeader): string | null {
  const value = headerOf(c, name)?.trim()
  if (value === undefined || value === '') return null
  if (value.length > maxHeaderValue) throw new Refusal('INVALID_REQUEST', `The header ${name} is longer than ${maxHeaderValue} characters.`)
  return value
}

/** Reads `query-order@^1.2, send-email@~1.0`: a range for each skill, by its key. */
function requiresOf(header: string | undefined): ReadonlyMap<string, string> | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const ranges = new Map<string, string>()
  for (const part of header.split(',')) {
    const at = part.indexOf('@')
    const name = part.slice(0, at).trim()
    if (at < 1 || !isSkillName(name))
      throw new Refusal('INVALID_REQUEST', 'Repertoire-Requires is a list of name@range.', {
        hint: 'write it like: query-order@^1.2, send-email@~1.0',
      })
    // A version must satisfy all ranges; of two for one skill, none may quietly win.
    if (ranges.has(nameKey(name)))
      throw new Refusal('INVALID_REQUEST', `Repertoire-Requires names ${name} twice.`, {
        hint: 'name it once; a range may hold several conditions: name@>=1.2 <1.5',
      })
    ranges.set(nameKey(name), parseRange(part.slice(at + 1)).text)
  }
  return ranges
}
