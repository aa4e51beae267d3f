import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

const post = (path: string, body: object = {}, key?: string): Promise<Reply> =>
  registry.send('POST', `/v1/${path}`, {
    headers: { 'if-match': '*' },
    body: { reason: 'a test tries it', ...body },
    ...(key === undefined ? {} : { key }),
  })

describe('a right that is taken back while a call is running', () => {
  const takeBack: Record<string, (agent: string, grant: string, key: string) => Promise<unknown>> = {
    'the grant': (agent, grant) => registry.send('DELETE', `/v1/agents/${agent}/grants/${grant}`),
    'the key': (agent, _, key) => registry.send('DELETE', `/v1/agents/${agent}/keys/${key}`),
    'the agent': (agent) => registry.send('PATCH', `/v1/agents/${agent}`, { body: { disabled: true } }),
    'a denial': (agent) =>
      registry.send('POST', `/v1/agents/${agent}/grants`, { body: { pattern: '*', deny: true, reason: 'a test denies it' } }),
    'the version': (agent) => post(`skills/long-${agent}/versions/1.0.0/block`),
  }
  it.each(Object.keys(takeBack))('403 PERMISSION_DENIED: %s; the answer is withheld, and the row says so', async (what) => {
    const agent = what.replaceAll(' ', '-')
    await registry.publish({ name: `long-${agent}`, front: 'permission: [orders]\neffects: idempotent' })
    await registry.release(`long-${agent}`, '1.0.0')
    const key = await registry.agent(agent, { grants: ['orders'] })
    const grant = (await registry.send('GET', `/v1/agents/${agent}/grants`)).body.data.items[0].id
    const keyId = (await registry.send('GET', `/v1/agents/${agent}/keys`)).body.data.items[0].id
    registry.execute(async () => {
      await takeBack[what]?.(agent, grant, keyId)
      return { kind: 'result', json: Buffer.from('{"secret":"the answer"}') }
    })
    const reply = await registry.send('POST', `/v1/skills/long-${agent}/calls`, { key, body: {} })
    expect([reply.status, reply.body.error?.code, reply.body.error?.effect, reply.text.includes('the answer')]).toEqual([
      403,
      'PERMISSION_DENIED',
      'done',
      false,
    ])
    const row = (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data
    expect([row.outcome, row.output]).toEqual(['denied', null])
    registry.execute(() => ({ kind: 'result', json: Buffer.from('{"done":true}') }))
  })
})

describe('a version that needs more than what its line serves', () => {
  it('409 ILLEGAL_TRANSITION until the promotion names what it adds; a canary passes over who lacks it', async () => {
    await registry.publish({ name: 'more-rights', front: 'permission: [orders]\neffects: read' })
    await registry.release('more-rights', '1.0.0')
    await registry.publish({ name: 'more-rights', version: '1.1.0', front: 'permission: [orders, payments]\neffects: read' })
    const holder = await registry.agent('holder', { grants: ['orders', 'payments'] })
    const lacking = await registry.agent('lacking', { grants: ['orders'] })
    const { id } = (await post('skills/more-rights/rollouts', { version: '1.1.0', percent: 100 })).body.data
    const versionOf = async (key: string): Promise<Data> => {
      const reply = await registry.send('GET', '/v1/skills/more-rights?range=^1', { key })
      return [reply.body.data.version, reply.body.meta.warnings.map((warning) => warning.code)]
    }
    expect([await versionOf(holder), await versionOf(lacking)]).toEqual([
      ['1.1.0', []],
      ['1.0.0', ['canary_not_permitted']],
    ])
    const refused = await post(`rollouts/${id}/promote`)
    expect([refused.status, refused.body.error?.code, refused.body.error?.message]).toEqual([
      409,
      'ILLEGAL_TRANSITION',
      'more-rights 1.1.0 needs payments, which 1.0.0 does not: agents without it would be denied.',
    ])
    expect((await post(`rollouts/${id}/promote`, { accept_tags: ['orders'] })).status).toBe(409)
    expect((await post(`rollouts/${id}/promote`, { accept_tags: ['payments'] })).body.data.state).toBe('promoted')
    expect((await registry.send('GET', '/v1/skills/more-rights', { key: lacking })).body.error?.code).toBe('PERMISSION_DENIED')
  })
})

describe('a version that is expected', () => {
  it('403 or 409: needs its own tags, whatever was resolved', async () => {
    const input = { type: 'object', properties: { amount: { type: 'number' } }, additionalProperties: true }
    await registry.publish({ name: 'expect-rights', front: 'permission: [payments]\neffects: read' })
    await registry.release('expect-rights', '1.0.0')
    expect((await registry.publish({ name: 'expect-rights', version: '1.1.0', input })).status).toBe(201)
    await registry.release('expect-rights', '1.1.0')
    const key = await registry.agent('no-payments')
    const executed = registry.executions.length
    const reply = await registry.send('POST', '/v1/skills/expect-rights/calls', { key, body: { range: '^1', expect_version: '1.0.0' } })
    expect([reply.status, reply.body.error?.code, registry.executions.length]).toEqual([409, 'VERSION_CHANGED', executed])
    const holder = await registry.agent('with-payments', { grants: ['payments'] })
    const served = await registry.send('POST', '/v1/skills/expect-rights/calls', {
      key: holder,
      body: { range: '^1', expect_version: '1.0.0' },
    })
    expect([served.status, served.body.meta.version, served.body.meta.via]).toEqual([200, '1.0.0', 'session'])
  })
})

describe('ways around the naming of added tags', () => {
  it('409 ILLEGAL_TRANSITION: below what the line serves, back to a version, and into a line that serves nothing any more', async () => {
    const publish = async (name: string, version: string, permission: string): Promise<void> => {
      expect((await registry.publish({ name, version, front: `permission: [${permission}]\neffects: read` })).status).toBe(201)
    }
    for (const version of ['1.3.0', '1.5.0']) {
      await publish('around-one', version, 'orders')
      await registry.release('around-one', version)
    }
    await publish('around-one', '1.4.0', 'orders, payments')
    expect((await post('skills/around-one/versions/1.4.0/release')).body.error?.code).toBe('ILLEGAL_TRANSITION')
    expect((await post('skills/around-one/versions/1.4.0/release', { accept_tags: ['payments'] })).status).toBe(200)
    expect((await post('skills/around-one/lines/1/revert', { to: '1.4.0' })).body.error?.code).toBe('ILLEGAL_TRANSITION')
    expect((await post('skills/around-one/lines/1/revert', { to: '1.4.0', accept_tags: ['payments'] })).body.data.stable).toBe('1.4.0')
    await publish('around-two', '1.0.0', 'orders')
    await registry.release('around-two', '1.0.0')
    await publish('around-two', '1.1.0', 'orders, payments')
    await post('skills/around-two/versions/1.0.0/yank')
    expect((await post('skills/around-two/versions/1.1.0/release')).body.error?.code).toBe('ILLEGAL_TRANSITION')
  })
})

describe('what is hidden', () => {
  it('is called by the name it was asked by: in what an agent declared, and in its own calls', async () => {
    await registry.publish({ name: 'secret-tool', front: 'permission: [vault]\nprivate: true\neffects: read' })
    await registry.release('secret-tool', '1.0.0')
    const key = await registry.agent('prober')
    for (const name of ['secret_tool', 'absent_tool']) await registry.send('POST', `/v1/skills/${name}/calls`, { key, body: {} })
    await registry.send('PUT', '/v1/agents/self/requirements', { key, body: { requires: { secret_tool: '*', 'absent-tool': '*' } } })
    expect((await registry.send('GET', '/v1/agents/self', { key })).body.data.requirements.default).toEqual({
      secret_tool: '*',
      absent_tool: '*',
    })
    const rowsOf = async (name: string): Promise<number> =>
      (await registry.send('GET', `/v1/calls?skill=${name}`, { key })).body.data.items.length
    expect([await rowsOf('secret_tool'), await rowsOf('absent_tool'), await rowsOf('secret-tool')]).toEqual([1, 1, 0])
  })
  it('stays out of hints: versions whose tags the caller lacks, with the reasons given for them', async () => {
    await registry.publish({ name: 'hinted-one' })
    await registry.release('hinted-one', '1.0.0')
    await registry.publish({ name: 'hinted-one', version: '2.0.0', front: 'permission: [payments]\neffects: read' })
    await registry.publish({ name: 'hinted-one', version: '3.0.0', front: 'permission: [payments]\neffects: read' })
    await registry.release('hinted-one', '3.0.0')
    await post('skills/hinted-one/versions/3.0.0/yank', { reason: 'CVE-SECRET in the payment path' })
    const key = await registry.agent('hint-reader')
    for (const range of ['^2', '^3']) {
      const reply = await registry.send('GET', `/v1/skills/hinted-one?range=${encodeURIComponent(range)}`, { key })
      expect([reply.body.error?.code, /2\.0\.0|3\.0\.0|CVE/.test(reply.text)]).toEqual(['NO_MATCHING_VERSION', false])
    }
    expect((await registry.send('GET', '/v1/skills/hinted-one?range=%5E3')).body.error?.hint).toContain('CVE-SECRET')
  })
  it('is the new team’s to read after a transfer, and the old one’s no longer', async () => {
    const old = await registry.agent('old-reader', { role: 'publisher', team: 'first-team' })
    const fresh = await registry.agent('new-reader', { role: 'publisher', team: 'second-team' })
    const files = { 'SKILL.md': '---\nname: moved-one\nversion: 1.0.0\ndescription: A skill.\npermission: []\neffects: read\n---\nText.\n' }
    await registry.send('POST', '/v1/skills', { key: old, body: { files } })
    await registry.send('POST', '/v1/skills/moved-one/transfer', { body: { team: 'second-team', reason: 'the house has moved' } })
    const statusFor = async (key: string): Promise<number> =>
      (await registry.send('GET', '/v1/skills/moved-one/versions/1.0.0', { key })).status
    expect([await statusFor(old), await statusFor(fresh)]).toEqual([404, 200])
  })
  it('400 INVALID_REQUEST: a grant that could never allow anything', async () => {
    await registry.agent('granted')
    for (const pattern of ['exec:*', 'fs:write:*', 'a:b:c:d:e:f:g:h:*'])
      expect(
        (await registry.send('POST', '/v1/agents/granted/grants', { body: { pattern, reason: 'a test grants it' } })).body.error?.code,
      ).toBe('INVALID_REQUEST')
    expect(
      (await registry.send('POST', '/v1/agents/granted/grants', { body: { pattern: 'exec:*', deny: true, reason: 'a test denies it' } }))
        .status,
    ).toBe(201)
  })
})

describe('payloads', () => {
  it('are kept from an auditor without payload:read, and each reading with it is an event', async () => {
    await registry.publish({ name: 'told-one' })
    await registry.release('told-one', '1.0.0')
    const caller = await registry.agent('teller')
    const call = await registry.send('POST', '/v1/skills/told-one/calls', { key: caller, body: { arguments: { word: 'hidden' } } })
    const id = call.body.meta.call_id
    const blind = await registry.agent('blind-auditor', { role: 'auditor' })
    const seeing = await registry.agent('seeing-auditor', { role: 'auditor', grants: ['payload:read'] })
    const rows = await registry.send('GET', '/v1/calls?agent=teller', { key: blind })
    expect([rows.body.data.items[0].input, rows.body.data.items[0].payload_withheld, rows.text.includes('hidden')]).toEqual([
      null,
      true,
      false,
    ])
    expect((await registry.send('GET', `/v1/calls/${id}`, { key: seeing })).body.data.input).toEqual({ word: 'hidden' })
    expect((await registry.send('GET', `/v1/calls/${id}`, { key: caller })).body.data.payload_withheld).toBe(false)
    const events = (await registry.send('GET', '/v1/audit?action=payload.read')).body.data.items
    expect(events.map((event: Data) => [event.caller, event.subject])).toEqual([['seeing-auditor', id]])
  })
})

describe('explain', () => {
  it('200: names the grant or denial that decides for each tag, and the one the row has', async () => {
    await registry.publish({ name: 'explained', front: 'permission: [crm:read:customers, smtp]\neffects: read' })
    await registry.release('explained', '1.0.0')
    const key = await registry.agent('asked', { grants: ['crm:read:*', '*'] })
    const first = (await registry.send('GET', '/v1/agents/asked/explain?skill=explained')).body.data
    expect([first.may_call, first.tags.map((tag: Data) => [tag.tag, tag.allowed, tag.high_risk, tag.rule?.pattern ?? null])]).toEqual([
      false,
      [
        ['crm:read:customers', true, false, '*'],
        ['smtp', false, true, null],
      ],
    ])
    await registry.send('POST', '/v1/agents/asked/grants', { body: { pattern: 'smtp', reason: 'a test grants it' } })
    const called = await registry.send('POST', '/v1/skills/explained/calls', { key, body: {} })
    const row = (await registry.send('GET', `/v1/calls/${called.body.meta.call_id}`)).body.data
    const second = (await registry.send('GET', '/v1/agents/asked/explain?skill=explained')).body.data
    expect([second.may_call, second.rule_id, second.tags[1].rule.granted_by, second.tags[1].rule.reason]).toEqual([
      true,
      row.authz_rule,
      'admin',
      'a test grants it',
    ])
    expect((await registry.send('GET', '/v1/agents/asked/explain?skill=explained', { key })).body.error?.code).toBe('ROLE_REQUIRED')
    expect((await registry.send('GET', '/v1/agents/nobody/explain?skill=explained')).body.error?.code).toBe('NOT_FOUND')
    expect((await registry.send('GET', '/v1/agents/asked/explain?skill=nobody')).body.error?.code).toBe('SKILL_NOT_FOUND')
  })
})

describe('POST /v1/skills/{name}/transfer', () => {
  it('200: the new team publishes from then on, the old one no longer; only an admin transfers', async () => {
    const old = await registry.agent('old-team', { role: 'publisher', team: 'old' })
    const fresh = await registry.agent('new-team', { role: 'publisher', team: 'new' })
    const bundle = (version: string): object => ({
      files: {
        'SKILL.md': `---\nname: moving-house\nversion: ${version}\ndescription: A skill.\npermission: []\neffects: read\n---\nText.\n`,
      },
    })
    expect((await registry.send('POST', '/v1/skills', { key: old, body: bundle('1.0.0') })).status).toBe(201)
    expect((await registry.send('POST', '/v1/skills', { key: fresh, body: bundle('1.1.0') })).body.error?.code).toBe('ROLE_REQUIRED')
    const body = { team: 'new', reason: 'the house has moved' }
    expect((await registry.send('POST', '/v1/skills/moving-house/transfer', { key: old, body })).body.error?.code).toBe('ROLE_REQUIRED')
    expect((await registry.send('POST', '/v1/skills/moving-house/transfer', { body })).body.data).toEqual({
      name: 'moving-house',
      team: 'new',
      previous_team: 'old',
      changed: true,
    })
    expect((await registry.send('POST', '/v1/skills', { key: fresh, body: bundle('1.1.0') })).status).toBe(201)
    expect((await registry.send('POST', '/v1/skills', { key: old, body: bundle('1.2.0') })).body.error?.code).toBe('ROLE_REQUIRED')
    expect(registry.bugs).toEqual([])
  })
})
