import { callerOfAgent, isWellFormedKey, Refusal, type AgentRecord, type Caller, type GrantRecord, type KeyRecord } from '@repertoire/core'
import { hash } from 'node:crypto'
import type { HttpDeps } from './door.ts'
import type { ClaimedIdentity } from './token-verifier.ts'

/** Who asks, how it was known, and who that is at any later moment. */
export type Identity = { readonly caller: Caller; readonly keyHash: string | undefined; readonly callerNow: () => Caller | undefined }

/** Makes a caller out of a key or, where an issuer is configured, of a token; everything else is the one 401. */
export function identify(header: string | undefined, deps: HttpDeps): Identity | Promise<Identity> {
  const credential = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (credential === undefined) throw unauthenticated()
  if (deps.verifyToken !== undefined && looksLikeToken(credential)) return identifyByToken(credential, deps)
  return identifyByKey(credential, deps)
}

function identifyByKey(key: string, deps: HttpDeps): Identity {
  // Scanners and typos cost a checksum; everything that could be a key goes the same way.
  if (!isWellFormedKey(key)) throw unauthenticated()
  const keyHash = hash('sha256', key)
  const find = (): { readonly record: KeyRecord; readonly agent: AgentRecord } | undefined => {
    const { keys, agents } = deps.snapshot()
    const record = keys.get(keyHash)
    const agent = record === undefined ? undefined : agents.get(record.agentId)
    if (record === undefined || agent === undefined || record.revoked || agent.disabled) return undefined
    const isOver = record.expiresAt !== null && record.expiresAt <= deps.clock.now().getTime()
    return isOver ? undefined : { record, agent }
  }
  const found = find()
  if (found === undefined) throw unauthenticated()
  deps.keyUses.note(found.record.id)
  const callerNow = (): Caller | undefined => {
    const now = find()
    return now === undefined ? undefined : callerOfAgent(now.agent, now.record.id)
  }
  return { caller: callerOfAgent(found.agent, found.record.id), keyHash, callerNow }
}

async function identifyByToken(token: string, deps: HttpDeps): Promise<Identity> {
  const claimed = await deps.verifyToken?.(token)
  const callerNow = (): Caller | undefined =>
    claimed === undefined || claimed.expiresAt <= deps.clock.now().getTime() ? undefined : callerOfToken(claimed, deps)
  const caller = callerNow()
  if (caller === undefined) throw unauthenticated()
  return { caller, keyHash: undefined, callerNow }
}

function callerOfToken(claimed: ClaimedIdentity, deps: HttpDeps): Caller | undefined {
  const grants = grantsOfToken(claimed, deps)
  if (grants === undefined) return undefined
  const agent = deps.snapshot().agents.get(claimed.agentId)
  return {
    id: claimed.agentId,
    role: claimed.role,
    team: agent?.team ?? null,
    tenant: agent?.tenant ?? null,
    domains: agent?.domains ?? [],
    keyId: null,
    grants,
    onBehalfOf: null,
  }
}

/** What a token says and what is registered of its subject count both; undefined for one that is disabled, which is nobody. */
export function grantsOfToken({ agentId, patterns, expiresAt }: ClaimedIdentity, deps: HttpDeps): readonly GrantRecord[] | undefined {
  const agent = deps.snapshot().agents.get(agentId)
  if (agent?.disabled === true) return undefined
  const claimed = patterns.map((pattern, index) => ({ id: `token:${index}`, agentId, pattern, deny: false, expiresAt }))
  return [...(agent?.grants ?? []), ...claimed]
}

/** Whether a text could be a token: three parts, and no key of ours. */
export function looksLikeToken(text: string): boolean {
  return !text.startsWith('rep_') && text.split('.').length === 3
}

/** The one refusal for whoever is not known, so that nobody learns which keys exist. */
export function unauthenticated(): Refusal {
  return new Refusal('UNAUTHENTICATED', 'This needs a valid key.', {
    hint: 'send Authorization: Bearer rep_…; ask an admin for a key',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
