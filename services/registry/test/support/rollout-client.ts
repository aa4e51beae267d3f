import { expect } from 'vitest'
import type { Data, Reply } from './test-client.ts'
import { openTestRegistry, type TestRegistry } from './test-registry.ts'

/** How a command is sent: with which If-Match, which query, and whose key. */
export type Sending = { readonly match?: string | null; readonly query?: string; readonly key?: string }

/** What tests of rollouts say in one word each. */
export type RolloutClient = {
  readonly registry: TestRegistry
  readonly keys: ReadonlyMap<string, string>
  readonly post: (path: string, body: object, sending?: Sending) => Promise<Reply>
  readonly start: (name: string, body: object, sending?: Sending) => Promise<Reply>
  /** What an agent gets for a range: version and way, or the code of the refusal. */
  readonly getFor: (agent: string, name: string, range?: string) => Promise<string>
  /** Makes a skill with released versions, and candidates. */
  readonly skill: (name: string, released: readonly string[], candidates?: readonly string[]) => Promise<void>
}

/** The reason every command of these tests gives. */
export const reason = 'a test tries it'

/** Opens a registry with five agents. */
export async function openRolloutClient(): Promise<RolloutClient> {
  const registry = await openTestRegistry()
  const keys = new Map<string, string>()
  for (const agent of ['agent-1', 'agent-2', 'agent-3', 'vip', 'bank']) keys.set(agent, await registry.agent(agent))
  const post: RolloutClient['post'] = (path, body, { match = '*', query = '', key } = {}) =>
    registry.send('POST', `/v1/${path}${query}`, {
      body: { reason, ...body },
      headers: match === null ? {} : { 'if-match': match },
      ...(key === undefined ? {} : { key }),
    })
  return {
    registry,
    keys,
    post,
    start: (name, body, sending) => post(`skills/${name}/rollouts`, body, sending),
    getFor: async (agent, name, range = '^1') => {
      const reply = await registry.send('POST', '/v1/resolve', { key: keys.get(agent) ?? '', body: { requires: { [name]: range } } })
      const found: Data = reply.body.data.resolved[name]
      return found.version === undefined ? found.error.code : `${found.version} ${found.via}`
    },
    skill: async (name, released, candidates = []) => {
      for (const version of [...released, ...candidates]) {
        expect((await registry.publish({ name, version })).status).toBe(201)
        if (released.includes(version)) expect((await registry.release(name, version)).status).toBe(200)
      }
    },
  }
}

/** Status, code and hint of an answer. */
export function said(reply: Reply): unknown[] {
  return [reply.status, reply.body.error?.code, reply.body.error?.hint]
}
