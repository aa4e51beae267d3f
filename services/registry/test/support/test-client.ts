import type { EnvelopeError, Meta } from '@repertoire/contract'
import type { Hono } from 'hono'
import type { DoorEnv } from '../../src/http/door.ts'

/** What came back, taken apart. */
export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: { ok: boolean; data: Data; error: EnvelopeError | null; meta: Meta }
}

/** Data of any shape: tests say what they expect of it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = any

/** How a request is sent. */
export type Send = {
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly raw?: string | Uint8Array
}

/** Speaks HTTP to the app without a socket. */
export type TestClient = {
  /** The answer as it begins, for what has no end. */
  readonly open: (method: string, path: string, options?: Send) => Promise<Response>
  readonly send: (method: string, path: string, options?: Send) => Promise<Reply>
  readonly publish: (skill: SkillSource, query?: string) => Promise<Reply>
  readonly release: (name: string, version: string) => Promise<Reply>
  /** Registers an agent with grants and answers with its key. */
  readonly agent: (
    id: string,
    options?: { readonly role?: string; readonly grants?: readonly string[]; readonly team?: string; readonly tenant?: string },
  ) => Promise<string>
}

/** A skill as a test writes it. */
export type SkillSource = {
  readonly name: string
  readonly version?: string
  readonly front?: string
  readonly body?: string
  readonly input?: object | null
  readonly output?: object | null
  readonly files?: Record<string, string>
}

/** A client of one app; requests carry the admin's key unless they say otherwise. */
export function createTestClient(app: Hono<DoorEnv>, adminKey: string): TestClient {
  const open: TestClient['open'] = async (method, path, { key = adminKey, body, headers = {}, raw } = {}) =>
    app.request(path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw !== undefined ? { body: raw as string } : body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const send: TestClient['send'] = async (method, path, options = {}) => {
    const response = await open(method, path, options)
    const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const text = isEndless ? await readAWhile(response) : await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body:
        response.headers.get('content-type')?.startsWith('application/json') === true
          ? JSON.parse(text)
          : { ok: false, data: null, error: null, meta: {} },
    }
  }
  return {
    open,
    send,
    publish: (skill, query = '') => send('POST', `/v1/skills${query}`, { body: { files: writeSkill(skill) } }),
    release: (name, version) =>
      send('POST', `/v1/skills/${name}/versions/${version}/release`, {
        body: { reason: 'a test releases it' },
        headers: { 'if-match': '*' },
      }),
    agent: async (id, { role = 'agent', grants = [], team, tenant } = {}) => {
      await send('POST', '/v1/agents', {
        body: { id, name: id, role, ...(team === undefined ? {} : { team }), ...(tenant === undefined ? {} : { tenant }) },
      })
      for (const pattern of grants) await send('POST', `/v1/agents/${id}/grants`, { body: { pattern, reason: 'a test grants it' } })
      return (await send('POST', `/v1/agents/${id}/keys`, { body: {} })).body.data.key
    },
  }
}

const quietMs = 120

/** What a stream without an end says until it is quiet. */
async function readAWhile(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  let text = ''
  for (;;) {
    const quiet = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), quietMs))
    const chunk = await Promise.race([reader?.read(), quiet])
    if (chunk?.value === undefined) break
    text += Buffer.from(chunk.value).toString('utf8')
  }
  await reader?.cancel()
  return text
}

const anything = { type: 'object', properties: {}, additionalProperties: true }

/** The files of a skill: with schemas unless told otherwise, and JavaScript that the executor double stands in for. */
export function writeSkill({
  name,
  version = '1.0.0',
  front = 'permission: []\neffects: read',
  body = 'Use it well.',
  input = anything,
  output = anything,
  files = { 'skill.js': 'export const run = () => ({})' },
}: SkillSource): Record<string, string> {
  return {
    'SKILL.md': `---\nname: ${name}\nversion: ${version}\ndescription: A skill that a test wrote.\n${front}\n---\n${body}\n`,
    ...(input === null ? {} : { 'input.schema.json': JSON.stringify(input) }),
    ...(output === null ? {} : { 'output.schema.json': JSON.stringify(output) }),
    ...files,
  }
}
