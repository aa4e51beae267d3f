import { endpoints, type Endpoint } from '@repertoire/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../src/http/token-verifier.ts'
import { bodies, pathsOf, queries, type AskedAbout } from './support/every-route.ts'
import { openLocalIssuer, type LocalIssuer } from './support/local-issuer.ts'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

type Item = AskedAbout & { readonly marks: readonly string[] }
/** Who asks; `user` is the token of whom it asks for. */
type Asker = { readonly id: string; readonly key: string; readonly user?: string }

let registry: TestRegistry
let issuer: LocalIssuer
/** Answers that hold the names under which their reader called something itself, whether or not it is there. */
const ofOwnCalls = new Set<string>([
  'listCalls',
  'tailCalls',
  'exportCalls',
  'callStats',
  'errorStats',
  'denialStats',
  'attemptStats',
  'feedbackStats',
])
const items: Item[] = []
const askers: Asker[] = []
const etags = new Map<string, string>()

const tags: Record<string, string> = { 'tagged-one': 'vault', 'private-one': 'vault', 'owned-one': 'vault' }
const names = ['open-one', 'tagged-one', 'private-one', 'owned-one', 'fresh-one'] as const
const post = (path: string, body: object = {}, key?: string): Promise<Reply> =>
  registry.send('POST', `/v1/${path}`, {
    headers: { 'if-match': '*' },
    body: { reason: 'a test tries it', ...body },
    ...(key === undefined ? {} : { key }),
  })

beforeAll(async () => {
  issuer = await openLocalIssuer()
  registry = await openTestRegistry({ verifyToken: createTokenVerifier(issuer.config, () => registry.deps.clock.now()) })
  const owner = await registry.agent('owner', { role: 'publisher', team: 'vaults' })
  for (const [index, name] of names.entries()) {
    const version = `${31 + index}.7.13`
    const candidate = `${31 + index}.8.17`
    const mark = (what: string): string => `mark-${what}-${index}-xyzzy`
    for (const [number, status] of [
      [version, 'released'],
      [candidate, 'candidate'],
    ] as const) {
      const front = `permission: [${tags[name] ?? ''}]\neffects: read\nprivate: ${name === 'private-one'}\nsummary: ${mark('summary')}\nauthor: ${mark('author')}\nwhen_to_use: ${mark('when')}`
      const files = {
        'SKILL.md': `---\nname: ${name}\nversion: ${number}\ndescription: ${mark('description')}\n${front}\n---\n${mark('instructions')}\n`,
        'references/more.md': mark('file'),
      }
      const published = await registry.send('POST', '/v1/skills', { body: { files }, ...(name === 'owned-one' ? { key: owner } : {}) })
      if (published.status !== 201) throw new Error(published.text)
      if (status === 'released' && name !== 'fresh-one') await registry.release(name, number)
    }
    const rollout = await post(`skills/${name}/rollouts`, {
      version: candidate,
      percent: 0,
      force: true,
      reason: `${mark('reason')} of a rollout`,
    })
    if (rollout.status !== 201) throw new Error(rollout.text)
    await registry.send('POST', '/v1/agents/admin/grants', { body: { pattern: 'vault', reason: 'a test grants it' } })
    const call = await registry.send('POST', `/v1/skills/${name}/calls`, { body: { arguments: { word: mark('argument') } } })
    const marks = ['summary', 'author', 'when', 'description', 'instructions', 'file', 'reason', 'argument'].map(mark)
    // The ids are of what the admin did: whoever is not the admin has no business with them.
    items.push({
      name,
      version,
      candidate,
      call: String(call.body.meta.call_id),
      rollout: rollout.body.data.id,
      marks: [...marks, version, candidate, rollout.body.data.id],
    })
    const seen = await registry.send('GET', `/v1/skills/${name}`)
    etags.set(name, seen.headers.get('etag') ?? '"none"')
  }
  for (const [id, options] of [
    ['bare', {}],
    ['holder', { grants: ['vault'] }],
    ['wildcard', { grants: ['vault:*', 'vaults'] }],
    ['denied', { grants: ['vault'] }],
    ['expired', {}],
    ['stranger', { role: 'publisher', team: 'others' }],
  ] as const)
    askers.push({ id, key: await registry.agent(id, options) })
  await registry.send('POST', '/v1/agents/denied/grants', { body: { pattern: 'vault', deny: true, reason: 'a test denies it' } })
  const soon = new Date(registry.deps.clock.now().getTime() + 60_000).toISOString()
  await registry.send('POST', '/v1/agents/expired/grants', { body: { pattern: 'vault', expires_at: soon, reason: 'a test grants it' } })
  registry.advance(120_000)
  await askForUsers()
})
afterAll(async () => {
  issuer.close()
  await registry.close()
})

/** The same, asking for users: what the agent holds and the user does not, the other way round, and whatever roles there are. */
async function askForUsers(): Promise<void> {
  const keyOf = async (id: string): Promise<string> => askers.find((asker) => asker.id === id)?.key ?? registry.agent(id)
  const exp = Math.floor(registry.deps.clock.now().getTime() / 1000) + 3600
  for (const [id, key, claims] of [
    ['holder for bare', await keyOf('holder'), { client: 'bare' }],
    ['holder for denied', await keyOf('holder'), { client: 'denied', scope: 'vault' }],
    ['bare for holder', await keyOf('bare'), { client: 'holder', scope: 'vault' }],
    ['operator for bare', await registry.agent('ops', { role: 'operator', grants: ['vault'] }), { client: 'bare', groups: ['operators'] }],
    [
      'owner for stranger',
      await registry.agent('second', { role: 'publisher', team: 'vaults', grants: ['vault'] }),
      { client: 'stranger' },
    ],
    ['admin for bare', registry.adminKey, { client: 'bare' }],
    ['holder for holder', await keyOf('holder'), { client: 'somebody', scope: 'vault' }],
  ] as const)
    askers.push({ id, key, user: await issuer.token({ exp, ...claims }) })
}
/** The header of whom somebody asks for. */
const forUser = ({ user }: Asker): Record<string, string> => (user === undefined ? {} : { 'repertoire-on-behalf-of': user })

const holds = (asker: string): boolean => asker === 'holder' || asker === 'holder for holder'
/** Whether somebody may know what an object holds. The candidate of an open one is nobody's but operators' to see. */
const maySee = (asker: string, name: string): boolean => name === 'open-one' || (name !== 'fresh-one' && holds(asker))
/** What must not come back: everything of what may not be seen, and of what may be seen the candidate, which a range never gives. */
const forbidden = (asker: string, item: Item): readonly string[] =>
  maySee(asker, item.name) ? [item.candidate, ...item.marks.filter((mark) => /reason|argument/.test(mark))] : item.marks

/** With nothing, with the ETag of another agent, with a range: where the role is refused before anything is read, one way is enough. */
function waysToAsk({ access, method }: Endpoint, item: Item): readonly Record<string, string>[] {
  const requires = { 'repertoire-requires': `${item.name}@*` }
  if (access !== 'agent') return [{}]
  return method === 'GET' ? [{}, { 'if-none-match': etags.get(item.name) ?? '' }, requires] : [{}, requires]
}

describe('the visibility matrix', () => {
  it('callers × routes × objects × ways to ask: nothing comes back that its reader may not know', async () => {
    const leaks: string[] = []
    const faults: string[] = []
    let cells = 0
    for (const [name, endpoint] of Object.entries(endpoints) as [keyof typeof endpoints, Endpoint][]) {
      if (endpoint.access === 'anyone') continue
      for (const asker of askers)
        for (const item of items)
          for (const path of pathsOf(endpoint, item))
            for (const query of queries[name]?.(item) ?? [''])
              for (const headers of waysToAsk(endpoint, item)) {
                cells += 1
                const body = bodies[name]?.(item)
                if (endpoint.body !== undefined && body === undefined) throw new Error(`say in this test what ${name} is sent`)
                const reply = await registry.send(endpoint.method, `${path}${query}`, {
                  key: asker.key,
                  headers: { 'if-match': '*', ...headers, ...forUser(asker) },
                  ...(body === undefined ? {} : { body }),
                })
                const told = `${reply.text} ${JSON.stringify([...reply.headers])}`
                // What somebody asks with is no secret to them, and may be said back.
                const asked = `${path}${query}${JSON.stringify(body ?? {})}`
                const found = forbidden(asker.id, item).find((mark) => told.includes(mark) && !asked.includes(mark))
                // The rows of its own calls hold the names it asked for.
                const named =
                  !ofOwnCalls.has(name) && !maySee(asker.id, item.name) && !asked.includes(item.name) && told.includes(`"${item.name}"`)
                if (found !== undefined || named)
                  leaks.push(`${asker.id} ${endpoint.method} ${path}${query} ${JSON.stringify(headers)}: ${found ?? item.name}`)
                if (reply.status === 304 && !maySee(asker.id, item.name)) leaks.push(`${asker.id} ${path}: 304 for what it may not see`)
                if (reply.status >= 500) faults.push(`${asker.id} ${endpoint.method} ${path}: ${reply.status}`)
              }
    }
    console.log(`${cells} cells of the visibility matrix`)
    expect([leaks.slice(0, 10), faults.slice(0, 10), cells >= 2000, registry.bugs]).toEqual([[], [], true, []])
  }, 240_000)
  it('a private skill, and one that was never released, answer like one that is not there, to the byte', async () => {
    const routes: (readonly [string, string, object?])[] = [
      ['GET', '/v1/skills/NAME'],
      ['GET', '/v1/skills/NAME?range=^1'],
      ['GET', '/v1/skills/NAME?range=33.8.17'],
      ['GET', '/v1/skills/NAME/versions'],
      ['GET', '/v1/skills/NAME/versions/33.7.13'],
      ['GET', '/v1/skills/NAME/versions/33.7.13/files/references/more.md'],
      ['POST', '/v1/skills/NAME/calls', { arguments: {} }],
      ['POST', '/v1/skills/NAME/calls', { arguments: {}, range: '^33', expect_version: '33.7.13' }],
      ['POST', '/v1/skills/NAME/calls', { arguments: {}, dry_run: true }],
      ['POST', '/v1/resolve', { requires: { NAME: '^33' } }],
    ]
    for (const [method, path, body] of routes)
      for (const hidden of ['private-one', 'fresh-one'])
        for (const asker of askers.filter(({ id }) => !maySee(id, hidden))) {
          const ask = async (name: string): Promise<string> => {
            const fill = (text: string): string => text.replaceAll('NAME', name)
            const reply = await registry.send(method, fill(path), {
              key: asker.key,
              headers: forUser(asker),
              ...(body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) as Data }),
            })
            const told = `${reply.status} ${reply.text} ${JSON.stringify([...reply.headers])}`
            return told
              .replaceAll(name, 'NAME')
              .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
              .replace(/"duration_ms":\d+/, '')
              .replace(/"revision":\d+/, '')
          }
          expect([asker.id, path, await ask(hidden)]).toEqual([asker.id, path, await ask('absent-one')])
        }
  })
})
