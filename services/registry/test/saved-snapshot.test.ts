import { applyChanges, emptySnapshot, parseExact, type Changes, type Snapshot, type VersionRecord } from '@repertoire/core'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSavedSnapshot, saveConfirmation, saveSnapshot } from '../src/store/saved-snapshot.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repertoire-snapshot-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const nowMs = Date.UTC(2026, 2, 1)
const minuteMs = 60_000
const version = (text: string): VersionRecord =>
  ({
    skillId: 's',
    version: text,
    semver: parseExact(text),
    line: '1',
    status: 'released',
    manifest: { private: false, permission: [] },
  }) as unknown as VersionRecord
const rollout = { id: 'r', skillId: 's', line: '1', candidate: '1.1.0', state: 'running', allow: [], deny: [], steps: [], basisPoints: 500 }
const snapshot = applyChanges(emptySnapshot, {
  installId: 'house',
  epoch: 2,
  revision: 7,
  skills: [
    { id: 's', name: 'query-order', team: 'orders', position: 2, revision: 7 },
    { id: 't', name: 'empty-one', team: null, position: 1, revision: 3 },
  ],
  versions: [version('1.0.0'), version('1.1.0')],
  lines: [{ skillId: 's', line: '1', stable: '1.0.0' }],
  rollouts: [rollout] as unknown as Changes['rollouts'],
  agents: [{ id: 'bot', name: 'Bot “ü”\n', role: 'agent', team: null, tenant: 'acme', domains: ['a'], disabled: false }],
  keys: [{ id: 'k', agentId: 'bot', hash: 'hash', expiresAt: nowMs, revoked: false, rotated: false }],
  grants: [{ id: 'g', agentId: 'bot', pattern: 'orders:*', deny: false, expiresAt: null, removed: false }],
  requirements: [{ agentId: 'bot', instance: 'one', key: 'query_order', range: '^1' }],
  connections: [
    { name: 'shop', baseUrl: 'http://shop', headers: { a: { env: 'A' } }, createdAt: '2026-01-01T00:00:00.000Z', removed: false },
  ],
  quotas: [{ id: 'q1', agentId: 'bot', skillKey: null, connection: null, perMinute: 5, perDay: null, removed: false }],
})
const plain = ({ skills, skillKeys, agents, keys, requirements, connections, ...rest }: Snapshot): unknown => [
  rest,
  [skills, skillKeys, agents, keys, requirements, connections].map((index) => [...index]),
]
const load = (): ReturnType<typeof loadSavedSnapshot> => loadSavedSnapshot(folder, nowMs)
const confirmedAt = async (): Promise<number | undefined> => (await load())?.confirmedAt
const file = (): string => join(folder, 'catalogue')
/** Writes the catalogue anew with another header, and the digest that belongs to it. */
const withHeader = async (change: object): Promise<void> => {
  const [header = '', ...lines] = (await readFile(file(), 'utf8')).trimEnd().split('\n').slice(0, -1)
  const body = [JSON.stringify({ ...(JSON.parse(header) as object), ...change }), ...lines].map((line) => `${line}\n`).join('')
  await writeFile(file(), `${body}${JSON.stringify({ sha256: createHash('sha256').update(body).digest('hex') })}\n`)
}

describe('a catalogue on the disk', () => {
  it('comes back as it was, readable by its owner alone', async () => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs - 5000 })
    const back = await load()
    expect([back?.confirmedAt, plain(back?.snapshot ?? emptySnapshot)]).toEqual([nowMs - 5000, plain(snapshot)])
    expect([(await stat(file())).mode & 0o077, await readdir(folder)]).toEqual([0, ['catalogue']])
  })
  it('comes back with what was confirmed later, of this revision alone', async () => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs - 5000 })
    await saveConfirmation(folder, { snapshot, confirmedAt: nowMs - 1000 })
    expect(await confirmedAt()).toBe(nowMs - 1000)
    await saveConfirmation(folder, { snapshot, confirmedAt: nowMs - 9000 })
    expect(await confirmedAt()).toBe(nowMs - 5000)
    for (const other of [{ revision: 8 }, { epoch: 3 }, { installId: 'other' }]) {
      await saveConfirmation(folder, { snapshot: { ...snapshot, ...other }, confirmedAt: nowMs })
      expect(await confirmedAt()).toBe(nowMs - 5000)
    }
  })
  it('is not there when it is absent, torn anywhere, or changed anywhere', async () => {
    expect(await load()).toBeUndefined()
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs })
    const whole = await readFile(file())
    for (let cut = 0; cut < whole.byteLength - 1; cut += 3) {
      await writeFile(file(), whole.subarray(0, cut))
      expect([cut, await load()]).toEqual([cut, undefined])
      const changed = Buffer.from(whole)
      changed[cut] = (changed[cut] ?? 0) ^ 1
      await writeFile(file(), changed)
      expect([cut, await load()]).toEqual([cut, undefined])
    }
  })
  it('is not there when another release wrote it', async () => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs })
    await withHeader({})
    expect(await load()).toBeDefined()
    for (const format of [1, 2, 4, '3', null]) {
      await withHeader({ format })
      expect(await load()).toBeUndefined()
    }
    const body = 'null\n'
    await writeFile(file(), `${body}${JSON.stringify({ sha256: createHash('sha256').update(body).digest('hex') })}\n`)
    expect(await load()).toBeUndefined()
  })
})

describe('a time of confirmation that cannot be true', () => {
  const note = (text: string): Promise<void> => writeFile(join(folder, 'confirmed'), text)
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['missing', '{}'],
    ['no number', '{"confirmedAt":"2026-03-01T00:00:00Z"}'],
    ['null itself', '{"confirmedAt":null}'],
    ['endless', '{"confirmedAt":1e999}'],
    ['negative', '{"confirmedAt":-1}'],
    ['more than a minute ahead', `{"confirmedAt":${nowMs + minuteMs + 1}}`],
  ])('is ignored where it was noted: %s', async (_, text) => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs - 5000 })
    await note(
      text.replace('{"', '{"installId":"house","epoch":2,"revision":7,"').replace('{}', '{"installId":"house","epoch":2,"revision":7}'),
    )
    expect(await confirmedAt()).toBe(nowMs - 5000)
  })
  it('is believed up to a minute ahead, since clocks differ', async () => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs + minuteMs })
    expect(await confirmedAt()).toBe(nowMs + minuteMs)
  })
  it('is never in the catalogue itself, where it lies ahead or is none', async () => {
    await saveSnapshot(folder, { snapshot, confirmedAt: nowMs + minuteMs + 1 })
    expect(await confirmedAt()).toBe(0)
    for (const at of ['yesterday', null, undefined]) {
      await withHeader({ confirmedAt: at })
      expect(await confirmedAt()).toBe(0)
    }
    await saveConfirmation(folder, { snapshot, confirmedAt: nowMs - 1000 })
    expect(await confirmedAt()).toBe(nowMs - 1000)
  })
})
