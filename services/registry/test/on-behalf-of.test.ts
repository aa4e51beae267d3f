import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../src/http/token-verifier.ts'
import { openLocalIssuer, type LocalIssuer } from './support/local-issuer.ts'
import type { Data, Reply, Send } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let issuer: LocalIssuer
let desk: string
let bare: string
beforeAll(async () => {
  issuer = await openLocalIssuer()
  registry = await openTestRegistry({ verifyToken: createTokenVerifier(issuer.config, () => registry.deps.clock.now()) })
  await registry.publish({ name: 'open-skill' })
  await registry.release('open-skill', '1.0.0')
  for (const [version, tags] of [
    ['1.0.0', 'vault'],
    ['1.1.0', 'vault, orders:read'],
  ] as const)
    await registry.publish({ name: 'vault-skill', version, front: `permission: [${tags}]\neffects: read` })
  await registry.release('vault-skill', '1.0.0')
  desk = await registry.agent('desk-bot', { grants: ['vault', 'orders:read'] })
  bare = await registry.agent('bare-bot')
})
afterAll(async () => {
  issuer.close()
  await registry.close()
})

type Asked = Send & { readonly claims?: JWTPayload }
/** Asks for a user, Ana with the scope vault unless the claims say otherwise. */
const send = async (method: string, path: string, { claims, ...options }: Asked = {}): Promise<Reply> => {
  const token = await issuer.token({ client: 'ana', scope: 'vault', ...claims })
  return registry.send(method, path, { key: desk, ...options, headers: { 'repertoire-on-behalf-of': token, ...options.headers } })
}
const call = (options: Asked = {}): Promise<Reply> => send('POST', '/v1/skills/vault-skill/calls', { body: {}, ...options })
const rowOf = async (reply: Reply): Promise<Data> => (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data
const names = (reply: Reply): string[] => reply.body.data.items.map((item: Data) => item.name)
const deny = (agent: string, pattern: string): Promise<Reply> =>
  registry.send('POST', `/v1/agents/${agent}/grants`, { body: { pattern, deny: true, reason: 'a test denies it' } })

describe('a call for a user', () => {
  it('200: is carried out where the agent and the user both hold the tag, and its row names the user', async () => {
    const reply = await call()
    const row = await rowOf(reply)
    expect([reply.status, row.agent_id, row.on_behalf_of, row.outcome]).toEqual([200, 'desk-bot', 'ana', 'ok'])
    const own = await registry.send('POST', '/v1/skills/vault-skill/calls', { key: desk, body: {} })
    expect([(await rowOf(own)).on_behalf_of, (await rowOf(own)).authz_rule]).toEqual([null, row.authz_rule])
  })
  it('403 PERMISSION_DENIED: where the user does not hold it, which the refusal and the row say', async () => {
    const reply = await call({ claims: { scope: 'profile' } })
    expect([reply.status, reply.body.error?.message, reply.body.error?.hint]).toEqual([
      403,
      'vault-skill needs the tag vault; user ana, for whom desk-bot asks, does not hold it.',
      expect.stringContaining('repertoire grant ana vault'),
    ])
    const row = await rowOf(reply)
    expect([row.outcome, row.on_behalf_of, row.authz_rule]).toEqual(['denied', 'ana', 'user:none'])
  })
  it('403 PERMISSION_DENIED: where the agent does not hold it, whatever the user holds: nobody is widened', async () => {
    const reply = await call({ key: bare })
    const row = await rowOf(reply)
    expect([reply.body.error?.message, row.authz_rule, row.on_behalf_of]).toEqual([
      'vault-skill needs the tag vault; agent bare-bot does not hold it.',
      'none',
      'ana',
    ])
  })
  it('404 NOT_FOUND: nothing is said of the call that was made for another user, as nothing of it is read', async () => {
    const { call_id: id } = (await call()).body.meta
    const say = (client: string): Promise<Reply> =>
      send('POST', `/v1/calls/${id}/feedback`, { claims: { client }, body: { task_done: true } })
    expect([(await send('GET', `/v1/calls/${id}`, { claims: { client: 'ben' } })).status, (await say('ben')).status]).toEqual([404, 404])
    expect((await say('ana')).status).toBe(200)
  })
  it('404 SKILL_NOT_FOUND: a private one is as absent as one that is not there, in the row as well', async () => {
    await registry.publish({ name: 'hidden-skill', front: 'permission: [vault]\neffects: read\nprivate: true' })
    await registry.release('hidden-skill', '1.0.0')
    const rows = []
    for (const name of ['hidden-skill', 'absent-skill']) {
      const reply = await send('POST', `/v1/skills/${name}/calls`, { claims: { scope: '' }, body: {} })
      const row = await rowOf(reply)
      rows.push([reply.status, row.outcome, row.authz_rule, row.version, row.error_message.replace(name, 'NAME')])
    }
    expect(rows[0]).toEqual(rows[1])
  })
  it('counts what is registered of a user: grants, and denials, which beat what its token says', async () => {
    await registry.agent('ben', { grants: ['vault'] })
    const claims = { client: 'ben', scope: '' }
    expect((await call({ claims })).status).toBe(200)
    const { id } = (await deny('ben', 'vault')).body.data
    const reply = await call({ claims: { client: 'ben' } })
    expect([reply.body.error?.message, (await rowOf(reply)).authz_rule]).toEqual([
      'vault-skill needs the tag vault; user ben, for whom desk-bot asks, is denied vault.',
      `user:${id}`,
    ])
  })
  it('gives the user no role and no ownership: whoever asks for one is an agent', async () => {
    for (const key of [
      registry.adminKey,
      await registry.agent('ops', { role: 'operator' }),
      await registry.agent('eye', { role: 'auditor' }),
    ]) {
      const listed = await send('GET', '/v1/skills', { key, claims: { scope: '', groups: ['operators'] } })
      expect(names(listed)).toEqual(['open-skill'])
      expect((await send('GET', '/v1/audit', { key })).body.error?.code).toBe('ROLE_REQUIRED')
      expect((await send('POST', '/v1/agents', { key, body: { id: 'x', name: 'x' } })).body.error?.code).toBe('ROLE_REQUIRED')
      expect((await send('GET', '/v1/agents/self', { key })).body.data).toMatchObject({
        role: 'agent',
        on_behalf_of: { subject: 'ana', grants: [{ pattern: 'vault', deny: false }] },
      })
    }
  })
  it('401 UNAUTHENTICATED: a token that is not good is never passed over, and answers like a key that is not', async () => {
    await registry.agent('gone')
    await registry.send('PATCH', '/v1/agents/gone', { body: { disabled: true } })
    const good = await issuer.token({ client: 'ana' })
    const bad: Record<string, string> = {
      nothing: '',
      'no token': 'ana',
      'a key': desk,
      'with its scheme': `Bearer ${good}`,
      two: `${good}, ${good}`,
      'a changed one': `${good.slice(0, -4)}AAAA`,
      'over time': await issuer.token({ client: 'ana', exp: Math.floor(Date.now() / 1000) - 60 }),
      'of another issuer': await issuer.token({ client: 'ana', iss: 'https://evil.example.com' }),
      'for somebody else': await issuer.token({ client: 'ana', aud: 'somebody-else' }),
      'of nobody': await issuer.token({ client: undefined as never }),
      'of the service': await issuer.token({ client: 'system' }),
      'of who is disabled': await issuer.token({ client: 'gone' }),
    }
    const unknown = await registry.send('GET', '/v1/skills', { key: 'rep_agent_x' })
    for (const [why, token] of Object.entries(bad)) {
      const reply = await registry.send('GET', '/v1/skills', { key: desk, headers: { 'repertoire-on-behalf-of': token } })
      expect([why, reply.status, reply.text]).toEqual([why, 401, unknown.text])
    }
  })
})

describe('what is seen for a user', () => {
  it('are the skills that both may call, on every way to ask', async () => {
    const scopes = async (claims: JWTPayload, key = desk): Promise<unknown[]> => {
      const listed = await send('GET', '/v1/skills', { key, claims })
      const described = await send('GET', '/v1/skills/vault-skill', { key, claims })
      const versions = await send('GET', '/v1/skills/vault-skill/versions', { key, claims })
      const resolved = await send('POST', '/v1/resolve', { key, claims, body: { requires: { 'vault-skill': '^1' } } })
      const error = resolved.body.data.resolved['vault-skill'].error?.code
      return [names(listed), described.status, versions.status, error]
    }
    expect(await scopes({})).toEqual([['open-skill', 'vault-skill', 'hidden-skill'], 200, 200, undefined])
    expect(await scopes({ scope: '' })).toEqual([['open-skill'], 403, 403, 'PERMISSION_DENIED'])
    expect(await scopes({}, bare)).toEqual([['open-skill'], 403, 403, 'PERMISSION_DENIED'])
  })
  it('has an ETag of its own: who has the list of the agent, or of another user, is not told that it is the same', async () => {
    const own = await registry.send('GET', '/v1/skills', { key: desk })
    const less = await send('GET', '/v1/skills', { claims: { scope: '' } })
    const [ownTag, lessTag] = [own, less].map((reply) => reply.headers.get('etag') ?? '')
    expect(ownTag).not.toBe(lessTag)
    expect(less.headers.get('vary')).toContain('Repertoire-On-Behalf-Of')
    const asked = async (tag: string | undefined): Promise<number> =>
      (await send('GET', '/v1/skills', { claims: { scope: '' }, headers: { 'if-none-match': tag ?? '' } })).status
    expect([await asked(ownTag), await asked(lessTag)]).toEqual([200, 304])
  })
  it('is resolved anew for each: a canary that the user lacks the tags of passes it by, and nobody else', async () => {
    const body = { version: '1.1.0', percent: 100, force: true, reason: 'a test tries it' }
    const rollout = await registry.send('POST', '/v1/skills/vault-skill/rollouts', { body, headers: { 'if-match': '*' } })
    expect(rollout.status).toBe(201)
    const version = async (scope: string): Promise<unknown> =>
      (await send('GET', '/v1/skills/vault-skill?range=^1', { claims: { scope } })).body.data.version
    const both = await Promise.all(['vault', 'vault orders', 'vault', 'vault orders'].map(version))
    expect(both).toEqual(['1.0.0', '1.1.0', '1.0.0', '1.1.0'])
    const owned = await send('GET', '/v1/skills/vault-skill/versions/1.1.0', { key: registry.adminKey, claims: { scope: 'vault orders' } })
    // Who published a candidate may pin it for itself, and not for a user.
    expect(owned.body.error?.code).toBe('PERMISSION_DENIED')
    await registry.send('POST', '/v1/agents/admin/grants', { body: { pattern: 'vault', reason: 'a test grants it' } })
    await registry.send('POST', '/v1/agents/admin/grants', { body: { pattern: 'orders:read', reason: 'a test grants it' } })
    const pinned = await send('GET', '/v1/skills/vault-skill/versions/1.1.0', { key: registry.adminKey, claims: { scope: 'vault orders' } })
    expect(pinned.body.error?.code).toBe('VERSION_NOT_FOUND')
    await registry.send('POST', `/v1/rollouts/${rollout.body.data.id}/cancel`, {
      body: { reason: 'a test ends it' },
      headers: { 'if-match': '*' },
    })
  })
  it('are the rows of calls for that user, not those for another or of the agent itself', async () => {
    const forAna = await call()
    const forCarl = await call({ claims: { client: 'carl' } })
    const own = await registry.send('POST', '/v1/skills/vault-skill/calls', { key: desk, body: {} })
    const seen = (await send('GET', '/v1/calls')).body.data.items.map((row: Data) => row.on_behalf_of)
    expect([seen.length > 0, new Set(seen)]).toEqual([true, new Set(['ana'])])
    const statuses = []
    for (const { body } of [forAna, forCarl, own]) statuses.push((await send('GET', `/v1/calls/${body.meta.call_id}`)).status)
    expect(statuses).toEqual([200, 404, 404])
    const all = (await registry.send('GET', '/v1/calls', { key: desk })).body.data.items.map((row: Data) => row.on_behalf_of)
    expect(new Set(all)).toEqual(new Set(['ana', 'ben', 'carl', null]))
  })
})

describe('a call for a user that is under way', () => {
  const takeBack: Record<string, (user: string) => Promise<unknown>> = {
    'the token ran out': async () => registry.advance(200_000),
    'the user was disabled': (user) => registry.send('PATCH', `/v1/agents/${user}`, { body: { disabled: true } }),
    'the user was denied the tag': (user) => deny(user, 'vault'),
    'the agent was denied the tag': () => deny('long-bot', 'vault'),
  }
  it.each(Object.keys(takeBack))('403 PERMISSION_DENIED: is not answered when meanwhile %s', async (what) => {
    const user = what.replaceAll(' ', '-')
    // What is registered of the user has no end: it is the token that runs out.
    await registry.agent(user, { grants: ['vault'] })
    await registry.send('POST', '/v1/agents', { body: { id: 'long-bot', name: 'x' } })
    await registry.send('POST', '/v1/agents/long-bot/grants', { body: { pattern: 'vault', reason: 'a test grants it' } })
    const key = (await registry.send('POST', '/v1/agents/long-bot/keys', { body: {} })).body.data.key
    registry.execute(async () => {
      await takeBack[what]?.(user)
      return { kind: 'result', json: Buffer.from('{"secret":"the answer"}') }
    })
    const exp = Math.floor(registry.deps.clock.now().getTime() / 1000) + 100
    const reply = await call({ key, claims: { client: user, scope: '', exp } })
    registry.execute(() => ({ kind: 'result', json: Buffer.from('{"done":true}') }))
    expect([reply.status, reply.body.error?.code, reply.text.includes('the answer')]).toEqual([403, 'PERMISSION_DENIED', false])
    expect((await rowOf(reply)).on_behalf_of).toBe(user)
  })
})

describe('GET /v1/agents/{id}/explain for a user', () => {
  const explain = async (agent: string, user?: string): Promise<Data> =>
    (await registry.send('GET', `/v1/agents/${agent}/explain?skill=vault-skill${user === undefined ? '' : `&on_behalf_of=${user}`}`)).body
      .data
  it('200: says whose grant or denial decides, as the calls themselves will', async () => {
    await registry.agent('dora', { grants: ['vault'] })
    await registry.agent('emil')
    const ben = await explain('desk-bot', 'ben')
    expect(ben).toMatchObject({ on_behalf_of: 'ben', may_call: false, judged: 'user', rule_id: expect.stringMatching(/^user:/) })
    expect(ben.tags[0]).toMatchObject({ allowed: false, judged: 'user', rule: { deny: false }, user_rule: { deny: true } })
    expect(ben.tags[0].user_rule.reason).toBe('a test denies it')
    const emil = await explain('desk-bot', 'emil')
    expect([emil.may_call, emil.judged, emil.rule_id, emil.tags[0].user_rule]).toEqual([false, 'user', 'user:none', null])
    const dora = await explain('desk-bot', 'dora')
    expect([dora.may_call, dora.judged, dora.tags[0].allowed]).toEqual([true, 'agent', true])
    const lacking = await explain('bare-bot', 'dora')
    expect([lacking.may_call, lacking.judged, lacking.tags[0].judged, lacking.rule_id]).toEqual([false, 'agent', 'agent', 'none'])
    expect(await explain('desk-bot')).toMatchObject({ on_behalf_of: null, may_call: true, judged: 'agent' })
  })
  it('200: a user that is disabled may nothing; 404 NOT_FOUND: one that is not registered', async () => {
    expect(await explain('desk-bot', 'gone')).toMatchObject({ may_call: false, disabled: true })
    const unknown = await registry.send('GET', '/v1/agents/desk-bot/explain?skill=vault-skill&on_behalf_of=nobody')
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, 'NOT_FOUND'])
  })
})
