import { endpoints } from '@repertoire/contract'
import { isSkillName, isWellFormedKey, nameKey, parseRange, Refusal, type Caller, type Snapshot } from '@repertoire/core'
import type { MiddlewareHandler } from 'hono'
import { createHash } from 'node:crypto'
import type { Visit } from '../visit.ts'
import type { Ask, DoorEnv, HttpDeps } from './door.ts'
import { respondError } from './respond.ts'

const openPaths = new Set<string>(
  Object.values(endpoints)
    .filter((endpoint) => endpoint.access === 'anyone')
    .map((endpoint) => endpoint.path),
)
const maxHeaderValue = 256

/** The one door: makes a visit out of a request or answers 401, on every path but those that need no key. */
export function authenticate(deps: HttpDeps): MiddlewareHandler<DoorEnv> {
  return async (c, next) => {
    c.set('deps', deps)
    c.set('requestId', deps.ids.next())
    if (openPaths.has(c.req.path)) return next()
    try {
      c.set('visit', visitOf(c, deps))
    } catch (error) {
      return respondError(c, error)
    }
    return next()
  }
}

function visitOf(c: Ask, deps: HttpDeps): Visit {
  const unconfirmedMs = deps.unconfirmedMs()
  // Keys and grants may have been taken back meanwhile: past the limit nothing that is known here counts.
  if (unconfirmedMs > deps.settings.staleLimitMs)
    throw new Refusal('SNAPSHOT_STALE', 'The database has been away for too long; this replica does not know any more what holds.', {
      headers: { 'Retry-After': '5' },
    })
  const snapshot = deps.snapshot()
  const caller = callerOf(c.req.header('authorization'), snapshot, deps.clock.now().getTime())
  // Rights of a user that nobody can verify must not be passed over in silence.
  if (c.req.header('repertoire-on-behalf-of') !== undefined) {
    throw new Refusal('UNAUTHENTICATED', 'No issuer is configured that could vouch for Repertoire-On-Behalf-Of.', {
      hint: 'leave the header out',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  const instance = short(c, 'repertoire-instance') ?? 'default'
  const declared = snapshot.requirements.get(caller.id)?.get(instance)
  const asked = requiresOf(c.req.header('repertoire-requires'))
  return {
    caller,
    instance,
    session: short(c, 'repertoire-session'),
    tenant: short(c, 'repertoire-tenant'),
    traceparent: short(c, 'traceparent'),
    standing: [asked, declared].filter((ranges) => ranges !== undefined),
    unconfirmedMs,
  }
}

function callerOf(header: string | undefined, snapshot: Snapshot, nowMs: number): Caller {
  const key = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (key === undefined || !isWellFormedKey(key)) throw unauthenticated()
  const record = snapshot.keys.get(createHash('sha256').update(key).digest('hex'))
  const agent = record === undefined ? undefined : snapshot.agents.get(record.agentId)
  if (
    record === undefined ||
    agent === undefined ||
    record.revoked ||
    agent.disabled ||
    (record.expiresAt !== null && record.expiresAt <= nowMs)
  )
    throw unauthenticated()
  return {
    id: agent.id,
    role: agent.role,
    team: agent.team,
    tenant: agent.tenant,
    domains: agent.domains,
    keyId: record.id,
    grants: agent.grants,
  }
}

// One sentence for all of them, so that nobody learns which keys exist.
function unauthenticated(): Refusal {
  return new Refusal('UNAUTHENTICATED', 'This needs a valid key.', {
    hint: 'send Authorization: Bearer rep_…; ask an admin for a key',
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function short(c: Ask, name: string): string | null {
  const value = c.req.header(name)?.trim()
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
