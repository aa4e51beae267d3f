import { Role } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type FetchImplementation, type JWTPayload } from 'jose'
import { fetch as outboundFetch } from 'undici'
import { z } from 'zod'

// Asymmetric ones alone: with a shared secret, or none, whoever verifies could also sign.
const Algorithm = z.enum(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'])

/** Which issuer is trusted, and how its claims become an agent, a role and grants. */
export const OidcConfig = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }),
  audience: z.string().min(1),
  jwks_url: z.url({ protocol: /^https?$/ }),
  algorithms: z.array(Algorithm).min(1).default(['RS256', 'ES256']),
  typ: z.string().min(1).default('JWT'),
  agent_claim: z.string().min(1).default('sub'),
  role_claim: z.string().min(1).optional(),
  roles: z.record(z.string(), Role).default({}),
  grant_claim: z.string().min(1).optional(),
  grants: z.record(z.string(), z.array(z.string().min(1).max(255))).default({}),
})
export type OidcConfig = z.output<typeof OidcConfig>

/** What a good token says: the agent, its role, patterns of tags it holds, and when it ends, in milliseconds since 1970. */
export type ClaimedIdentity = {
  readonly agentId: string
  readonly role: Role
  readonly patterns: readonly string[]
  readonly expiresAt: number
}

/** Verifies a token; undefined when it is not good, for whatever reason. */
export type TokenVerifier = (token: string) => Promise<ClaimedIdentity | undefined>

const agentShape = /^[a-z0-9][a-z0-9._-]{0,63}$/
const strength: readonly Role[] = ['agent', 'publisher', 'auditor', 'operator', 'admin']
const jwksTimeoutMs = 3000
const cooldownMs = 30_000
const jwksMaxAgeMs = 10 * 60_000
const longestLifeMs = 10 * 365 * 86_400_000
// Names that stand for the service itself.
const reserved = new Set(['system', 'self'])

/** Makes a verifier of one issuer's tokens: algorithms, issuer, audience and type are explicit, keys are cached and asked for again at most every 30 s. */
export function createTokenVerifier(config: OidcConfig, now: () => Date): TokenVerifier {
  const keys = createRemoteJWKSet(new URL(config.jwks_url), {
    timeoutDuration: jwksTimeoutMs,
    cooldownDuration: cooldownMs,
    cacheMaxAge: jwksMaxAgeMs,
    // The operator named the address; where it would send us on, nobody has.
    [customFetch]: patientFetch(
      (url, options) =>
        outboundFetch(url, {
          method: 'GET',
          redirect: 'error',
          signal: options.signal ?? null,
          headers: { accept: 'application/json' },
        }) as never,
    ),
  })
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: config.issuer,
        audience: config.audience,
        algorithms: config.algorithms,
        typ: config.typ,
        requiredClaims: ['exp', config.agent_claim],
        clockTolerance: 5,
        currentDate: now(),
      })
      return claimsOf(payload, config, now().getTime())
    } catch (error) {
      if (isAboutTheToken(error)) return undefined
      throw new Refusal('UNAVAILABLE', 'The issuer of this token cannot be asked right now.', { headers: { 'Retry-After': '10' } })
    }
  }
}

// The library waits between two answers of an issuer; between two failures we have to.
function patientFetch(ask: FetchImplementation): FetchImplementation {
  let failedAt = Number.NEGATIVE_INFINITY
  return async (url, options) => {
    if (performance.now() - failedAt < cooldownMs) throw new Error('the issuer failed a moment ago')
    try {
      const response = await ask(url, options)
      if (response.status !== 200) failedAt = performance.now()
      return response
    } catch (error) {
      failedAt = performance.now()
      throw error
    }
  }
}

// Everything but a fault of the way to the issuer is the token's own.
function isAboutTheToken(error: unknown): boolean {
  return error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'
}

function claimsOf(payload: JWTPayload, config: OidcConfig, nowMs: number): ClaimedIdentity | undefined {
  const agentId = payload[config.agent_claim]
  if (typeof agentId !== 'string' || !agentShape.test(agentId) || reserved.has(agentId) || payload.exp === undefined) return undefined
  if (payload.exp * 1000 > nowMs + longestLifeMs) return undefined
  // Without a mapping a token is an agent's, whatever it is called: rights to manage are given on purpose.
  const mapped = valuesOf(payload, config.role_claim).flatMap((value) => (Object.hasOwn(config.roles, value) ? [config.roles[value]] : []))
  const role = strength.findLast((candidate) => mapped.includes(candidate)) ?? 'agent'
  const patterns = valuesOf(payload, config.grant_claim).flatMap((value) =>
    Object.hasOwn(config.grants, value) ? (config.grants[value] ?? []) : [],
  )
  return { agentId, role, patterns, expiresAt: payload.exp * 1000 }
}

// A list, or words in one text as scopes are.
function valuesOf(payload: JWTPayload, claim: string | undefined): string[] {
  const value = claim === undefined ? undefined : payload[claim]
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '')
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
