import { generateKeyPair, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenVerifier, OidcConfig } from '../src/http/token-verifier.ts'
import { openLocalIssuer, type LocalIssuer } from './support/local-issuer.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let issuer: LocalIssuer

beforeAll(async () => {
  issuer = await openLocalIssuer()
  registry = await openTestRegistry({ verifyToken: createTokenVerifier(issuer.config, () => registry.deps.clock.now()) })
  await registry.publish({ name: 'by-token', front: 'permission: [orders:read]\neffects: read' })
  await registry.release('by-token', '1.0.0')
})
afterAll(async () => {
  issuer.close()
  await registry.close()
})

const token: LocalIssuer['token'] = (claims, header) => issuer.token(claims, header)
const self = (key: string): ReturnType<TestRegistry['send']> => registry.send('GET', '/v1/agents/self', { key })

describe('tokens of a configured issuer', () => {
  it('200: claims become an agent, its role and its grants', async () => {
    expect((await self(await token())).body.data).toMatchObject({ id: 'token-bot', role: 'agent' })
    expect((await self(await token({ groups: ['readers', 'operators', 'others'] }))).body.data.role).toBe('operator')
    const without = await registry.send('POST', '/v1/skills/by-token/calls', { key: await token(), body: {} })
    const withScope = await registry.send('POST', '/v1/skills/by-token/calls', { key: await token({ scope: 'profile orders' }), body: {} })
    expect([without.body.error?.code, withScope.status]).toEqual(['PERMISSION_DENIED', 200])
  })
  it('200: grants, team and denials of the registered agent count too; a disabled one is refused', async () => {
    await registry.agent('token-bot', { grants: ['orders:read'] })
    expect((await registry.send('POST', '/v1/skills/by-token/calls', { key: await token(), body: {} })).status).toBe(200)
    await registry.send('PATCH', '/v1/agents/token-bot', { body: { disabled: true } })
    expect((await self(await token())).status).toBe(401)
    await registry.send('PATCH', '/v1/agents/token-bot', { body: { disabled: false } })
  })
  it('200: keys go on being good, and the name of an admin makes none', async () => {
    expect((await self(registry.adminKey)).body.data.role).toBe('admin')
    expect((await self(await token({ client: 'admin' }))).body.data.role).toBe('agent')
  })
  it('401 UNAUTHENTICATED: every token that is not as it must be, all alike', async () => {
    const other = await generateKeyPair('RS256')
    const pem = new TextEncoder().encode(JSON.stringify(issuer.publicJwk))
    const good = (await token()).split('.')
    const bad: Record<string, string> = {
      'another key': await token({}, { key: other.privateKey }),
      'alg confusion: the public key as a shared secret': await token({}, { alg: 'HS256', key: pem }),
      none: new UnsecuredJWT({ client: 'token-bot' })
        .setIssuer('https://id.example.com')
        .setAudience('repertoire')
        .setExpirationTime('5m')
        .encode(),
      'none without a signature': `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${good[1]}.`,
      'a changed payload': `${good[0]}.${Buffer.from('{"client":"admin"}').toString('base64url')}.${good[2]}`,
      'another issuer': await token({ iss: 'https://evil.example.com' }),
      'another audience': await token({ aud: 'somebody-else' }),
      'no audience': await token({ aud: undefined as never }),
      'an exp that is no number': await token({ exp: 'tomorrow' as never }),
      'no exp': await token({ exp: undefined as never }),
      expired: await token({ exp: Math.floor(Date.now() / 1000) - 60 }),
      'not yet good': await token({ nbf: Math.floor(Date.now() / 1000) + 600 }),
      'another type': await token({}, { typ: 'logout+jwt' }),
      'no type': await token({}, { typ: null }),
      'no agent': await token({ client: undefined as never }),
      'an agent id that is none': await token({ client: '../admin' }),
      'an unknown key id': await token({}, { kid: 'k9' }),
    }
    const answers = new Map<string, string>()
    for (const [why, key] of Object.entries(bad)) {
      const reply = await self(key)
      answers.set(why, JSON.stringify([reply.status, reply.text]))
    }
    answers.set('a key that is unknown', JSON.stringify([(await self('rep_agent_x')).status, (await self('rep_agent_x')).text]))
    expect([...new Set(answers.values())]).toEqual([expect.stringContaining('UNAUTHENTICATED')])
  })
  it('asks the issuer for its keys at most once in a while, and never follows it elsewhere', async () => {
    const before = issuer.asked()
    for (let n = 0; n < 20; n += 1) await self(await token({}, { kid: `unknown-${n}` }))
    expect(issuer.asked() - before).toBeLessThanOrEqual(1)
    issuer.redirect(`${issuer.address}/elsewhere`)
    const fresh = createTokenVerifier(
      OidcConfig.parse({
        issuer: 'https://id.example.com',
        audience: 'repertoire',
        jwks_url: `${issuer.address}/jwks`,
        agent_claim: 'client',
      }),
      () => new Date(),
    )
    const from = issuer.asked()
    for (let n = 0; n < 20; n += 1) await expect(fresh(await token())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(issuer.asked() - from).toBe(1)
    issuer.redirect(undefined)
  })
  it('401 UNAUTHENTICATED: names of the service itself, and lives without an end; 404 NOT_FOUND: declaring unregistered', async () => {
    for (const key of [await token({ client: 'system' }), await token({ client: 'self' }), await token({ exp: 9e12 })])
      expect((await self(key)).body.error?.code).toBe('UNAUTHENTICATED')
    const body = { requires: { 'by-token': '^1' } }
    const declared = await registry.send('PUT', '/v1/agents/self/requirements', { key: await token({ client: 'never-seen' }), body })
    expect([declared.status, declared.body.error?.code]).toEqual([404, 'NOT_FOUND'])
  })
  it('200: what a token grants holds to the end of a call, for a registered agent too', async () => {
    await registry.agent('reg-bot')
    const reply = await registry.send('POST', '/v1/skills/by-token/calls', {
      key: await token({ client: 'reg-bot', scope: 'orders' }),
      body: {},
    })
    expect([reply.status, reply.body.error]).toEqual([200, null])
  })
  it('refuses a configuration with a shared secret, no algorithm or an address that is none', () => {
    const right = { issuer: 'https://id.example.com', audience: 'x', jwks_url: 'https://id.example.com/jwks' }
    expect(OidcConfig.safeParse(right).success).toBe(true)
    for (const wrong of [
      { algorithms: ['HS256'] },
      { algorithms: ['none'] },
      { algorithms: [] },
      { jwks_url: 'file:///etc/passwd' },
      { audience: '' },
      { extra: 1 },
    ])
      expect([wrong, OidcConfig.safeParse({ ...right, ...wrong }).success]).toEqual([wrong, false])
  })
})
