import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemCaller } from '@repertoire/core'
import type { Store } from '../src/ports.ts'
import { headChannel, hearHeads, readHead, tellHead } from '../src/store/audit-heads.ts'
import { openDatabase } from '../src/store/connect.ts'
import { keepHead, type KeptAudit, type KeptHead } from '../src/store/kept-head.ts'
import { openStore } from '../src/store/open-store.ts'
import { createSnapshotFeed } from '../src/store/snapshot-feed.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

/** Another replica over the database of the first, with a folder of its own. */
type Replica = {
  readonly store: Store
  readonly head: KeptHead
  readonly folder: string
  readonly hear: () => void
  readonly append: () => Promise<void>
  readonly close: () => Promise<void>
}

let first: TestRegistry
let second: Replica
const folders: string[] = []
beforeEach(async () => {
  first = await openTestRegistry()
  second = await openReplica()
})
afterEach(async () => {
  await second.close()
  await first.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function openReplica(known?: string): Promise<Replica> {
  const folder = known ?? (await mkdtemp(join(tmpdir(), 'repertoire-replica-')))
  folders.push(folder)
  const database = openDatabase(first.databaseUrl)
  const bug = (error: unknown): void => void first.bugs.push(error)
  const feed = createSnapshotFeed({ database, now: Date.now, onError: bug })
  await feed.start()
  const secret = first.deps.settings.installSecret
  const head = keepHead({ folder, database, onError: bug })
  const store = openStore(database, { feed, secret, head })
  let stopHearing = async (): Promise<void> => undefined
  return {
    store,
    head,
    folder,
    hear: () => void (stopHearing = hearHeads(database, { secret, kept: head }, bug)),
    append: () =>
      store.transaction((tx) => tx.audit.append({ caller: systemCaller, action: 'test.append', subject: 'second', at: new Date() })),
    close: async () => {
      await stopHearing()
      await head.stop()
      await feed.stop()
      await database.close()
    },
  }
}
/** What a replica keeps, once it is what is waited for. */
async function keptBy({ head }: Replica, isIt: (kept: KeptAudit) => boolean): Promise<KeptAudit> {
  for (const until = performance.now() + 5000; performance.now() < until; await pause(10)) {
    const kept = await head.read()
    if (typeof kept === 'object' && isIt(kept)) return kept
  }
  throw new Error(`it never was: ${JSON.stringify(await head.read())}`)
}
const lastSeq = async (): Promise<number> => Number((await first.sql`select max(seq) as last from audit_events`)[0]?.['last'])
const free = (statement: string): Promise<unknown> =>
  first.sql.unsafe(`alter table audit_events disable trigger all; ${statement}; alter table audit_events enable trigger all`)
/** Begins to hear, and makes sure of it with an event of the first replica. */
async function hearOne(): Promise<number> {
  second.hear()
  for (let n = 0; (await second.head.read()) === undefined && n < 100; n += 1) {
    await first.agent(`heard-${n}`)
    await pause(20)
  }
  const seq = await lastSeq()
  await keptBy(second, (kept) => kept.head.seq === seq)
  return seq
}

describe('two replicas over one audit log', () => {
  it('each keeps the end that the other tells: a tail that is cut is named by one that appended nothing', async () => {
    expect((await second.store.verifyAudit()).tail_checked).toBe(false)
    const seq = await hearOne()
    expect(await second.store.verifyAudit()).toMatchObject({ ok: true, tail_checked: true, first_bad: null })
    await free(`delete from audit_events where seq >= ${seq}`)
    const verdict = await second.store.verifyAudit()
    expect([verdict.ok, verdict.first_bad]).toEqual([
      false,
      { seq, problem: `the tail is cut: this replica knows of event ${seq}, and the last one there is ${seq - 1}` },
    ])
  })
  it('keep what they heard over a restart', async () => {
    const seq = await hearOne()
    await second.close()
    second = await openReplica(second.folder)
    await free(`delete from audit_events where seq >= ${seq}`)
    expect((await second.store.verifyAudit()).first_bad?.seq).toBe(seq)
  })
  it('do not take for whole what somebody who knew nothing of the tail appended behind the cut', async () => {
    const seq = await hearOne()
    await free(`delete from audit_events where seq >= ${seq}`)
    const third = await openReplica()
    await third.append()
    await third.close()
    const kept = await keptBy(second, ({ head }) => head.seq > seq)
    expect(kept.broken).toEqual({ seq, problem: 'the event is gone, and others were appended behind it' })
    expect((await second.store.verifyAudit()).first_bad?.seq).toBe(seq)
  })
  it('miss nothing for good: the next end that is heard makes up for those that were not', async () => {
    const seq = await hearOne()
    await second.close()
    second = await openReplica(second.folder)
    await first.agent('not-heard')
    second.hear()
    for (let n = 0; (await keptBy(second, () => true)).head.seq === seq && n < 100; n += 1) await first.agent(`next-${n}`)
    const last = await lastSeq()
    expect((await keptBy(second, ({ head }) => head.seq === last)).broken).toBeNull()
    expect((await second.store.verifyAudit()).ok).toBe(true)
  })
  it('ask for what was told while nobody heard them, without another event', async () => {
    await hearOne()
    const third = await openReplica()
    third.hear()
    await keptBy(third, ({ head }) => head.seq > 0)
    await third.close()
    await first.agent('told-to-nobody')
    const last = await lastSeq()
    await keptBy(second, ({ head }) => head.seq === last)
    const back = await openReplica(third.folder)
    back.hear()
    expect((await keptBy(back, ({ head }) => head.seq === last)).broken).toBeNull()
    await back.close()
  })
  it('believe nobody who has not the install secret, and no end that is older', async () => {
    const seq = await hearOne()
    const { installSecret } = first.deps.settings
    const link = 'f'.repeat(64)
    const ahead = { seq: seq + 1000, hash: link, previous: link }
    const real = tellHead(installSecret, { ...ahead, seq: seq - 1 })
    const other = new Uint8Array(32)
    for (const told of ['', 'x', `${seq + 1000}`, tellHead(other, ahead), real.replace(`${seq - 1}`, `${seq + 1000}`), real])
      await first.sql`select pg_notify(${headChannel}, ${told})`
    // What is told next arrives behind them all.
    await first.agent('told-next')
    const last = await lastSeq()
    expect((await keptBy(second, ({ head }) => head.seq >= last)).head.seq).toBe(last)
    expect(await second.store.verifyAudit()).toMatchObject({ ok: true, first_bad: null })
  })
  it('note nothing over what the disk kept of a chain that was broken, however early they hear', async () => {
    const broken = { seq: 2, problem: 'the event is gone, and others were appended behind it' }
    await writeFile(join(second.folder, 'audit-head'), JSON.stringify({ head: { seq: 3, hash: 'a'.repeat(64) }, since: 2, broken }))
    second.head.note({ seq: 50, hash: 'b'.repeat(64), previous: null })
    expect(await second.head.read()).toEqual({ head: { seq: 50, hash: 'b'.repeat(64) }, since: 2, broken })
    expect(JSON.parse(await readFile(join(second.folder, 'audit-head'), 'utf8'))).toMatchObject({ since: 2, broken })
  })
})

describe('the end of the chain, as it is told', () => {
  it('is read back by who has the secret alone, whole, and fits a notification many times', () => {
    const [secret, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    for (const head of [
      { seq: 1, hash: 'a'.repeat(64), previous: null },
      { seq: 999_999_999_999_999, hash: 'b'.repeat(64), previous: 'c'.repeat(64) },
    ]) {
      const told = tellHead(secret, head)
      expect([readHead(secret, told), readHead(other, told), told.length < 800]).toEqual([head, undefined, true])
      for (let at = 0; at < told.length; at += 1)
        expect(readHead(secret, `${told.slice(0, at)}${told[at] === '1' ? '2' : '1'}${told.slice(at + 1)}`)).toBeUndefined()
    }
  })
})
