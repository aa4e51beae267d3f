import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDrain } from '../src/log/spool/drain.ts'
import { encodeEntry, frameAll } from '../src/log/spool/frames.ts'
import { openSpool, type Spool } from '../src/log/spool/open-spool.ts'
import { segmentBytes } from '../src/log/spool/segment.ts'
import type { NewCallRow } from '../src/stored.ts'
import { newRow } from './support/new-row.ts'

let folder: string
let spool: Spool
const mebibyte = 1024 * 1024
const errors: unknown[] = []
const opened: Spool[] = []
const reopen = async (maxBytes = 64 * mebibyte): Promise<Spool> => {
  const next = await openSpool({ folder, maxBytes, onError: (error) => void errors.push(error) })
  opened.push(next)
  return next
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repertoire-spool-test-'))
  errors.length = 0
  spool = await reopen()
})
afterEach(async () => {
  // Some were closed by their test, and those of a dead process hold files still.
  for (const each of opened.splice(0)) await each.close().catch(() => undefined)
  await rm(folder, { recursive: true, force: true })
})

const row = (id: number, bytes = 10): NewCallRow =>
  newRow({ call_id: String(id), ts: new Date(1_700_000_000_000 + id), skill: 'x', input: Buffer.alloc(bytes, 97) })
const append = (id: number, bytes?: number): Promise<unknown> => spool.append(encodeEntry({ row: row(id, bytes) }))
/** Drains everything into a list of ids. */
const drain = async (from: Spool, isWhole = true): Promise<string[]> => {
  const ids: string[] = []
  const draining = createDrain({
    spool: from,
    write: async (rows) => void ids.push(...rows.map((entry) => entry.row.call_id)),
    onError: (error) => void errors.push(error),
  })
  draining.begin()
  const place = from.tail()
  expect(await draining.settled(5000)).toBe(isWhole)
  // Whoever asks later hears the same.
  expect(await draining.settled(0, place)).toBe(isWhole)
  await draining.stop()
  return ids
}
const count = (to: number, from = 0): string[] => Array.from({ length: to - from }, (_, index) => String(from + index))

const frame = (payload: Buffer, generation: number): Buffer => frameAll([payload], generation)

describe('the spool', () => {
  it('drains in the order of acknowledgement, over many segments, and uses files again', async () => {
    for (let id = 0; id < 400; id += 1) await append(id, 64 * 1024)
    expect((await readdir(folder)).length).toBeGreaterThan(3)
    expect(await drain(spool)).toEqual(count(400))
    for (let id = 400; id < 700; id += 1) await append(id, 64 * 1024)
    expect(await drain(spool)).toEqual(count(700, 400))
    expect([(await readdir(folder)).length <= 6, spool.bytes(), errors]).toEqual([true, 0, []])
  })
  it('has after a crash what was acknowledged, and drains it first', async () => {
    await Promise.all(count(500).map((id) => append(Number(id), 20_000)))
    // No close: the process is gone. Another one opens the same folder.
    const other = await reopen()
    for (let id = 500; id < 510; id += 1) await other.append(encodeEntry({ row: row(id) }))
    expect((await drain(other)).sort((a, b) => Number(a) - Number(b))).toEqual(count(510))
    await other.close()
    expect(await drain(await reopen())).toEqual([])
  })
  it('cuts a torn tail at the last good frame', async () => {
    for (let id = 0; id < 10; id += 1) await append(id)
    const [name = ''] = await readdir(folder)
    const file = await open(join(folder, name), 'r+')
    const used = spool.bytes()
    await file.write(Buffer.from('torn'), 0, 4, 16 + used - 6)
    await file.close()
    expect(await drain(await reopen())).toEqual(count(9))
  })
  it('leaves what it cannot read back while it runs for the next start, which saves what lies behind', async () => {
    for (let id = 0; id < 10; id += 1) await append(id)
    const [name = ''] = await readdir(folder)
    const one = frame(encodeEntry({ row: row(0) }), 1).byteLength
    const file = await open(join(folder, name), 'r+')
    await file.write(Buffer.from('XXXX'), 0, 4, 16 + one * 4 + 20)
    await file.close()
    const before = await drain(spool, false)
    await append(10)
    expect([before, await drain(spool), errors.length]).toEqual([count(4), ['10'], 1])
    await spool.close()
    spool = await reopen()
    expect((await drain(spool)).filter((id) => Number(id) > 4)).toEqual(count(10, 5))
  })
  it('takes no row that it could not read back, and goes on with the next', async () => {
    await append(0)
    for (const bytes of [4 * mebibyte, 9 * mebibyte]) await expect(append(1, bytes)).rejects.toThrow('larger than the spool takes')
    await append(2, 4 * mebibyte - 1024)
    await append(3)
    expect([await drain(spool), errors.length]).toEqual([['0', '2', '3'], 2])
  })
  it('says when it is full, loses nothing that it had taken, and goes on after a drain', async () => {
    await spool.close()
    spool = await reopen(2 * segmentBytes)
    let taken = 0
    let refused: unknown
    while (refused === undefined)
      await append(taken, 500_000).then(
        () => (taken += 1),
        (error: unknown) => (refused = error),
      )
    expect([String(refused), spool.isDown(), taken > 20]).toEqual(['Error: the spool is full', true, true])
    expect(await drain(spool)).toEqual(count(taken))
    await append(taken)
    expect(spool.isDown()).toBe(false)
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).size).toBe(segmentBytes)
  })
  it('tries again while the database is away, and gives up nothing', async () => {
    for (let id = 0; id < 50; id += 1) await append(id)
    let attempts = 0
    const ids: string[] = []
    const draining = createDrain({
      spool,
      onError: (error) => void errors.push(error),
      write: async (rows) => {
        attempts += 1
        if (attempts < 4) throw new Error('away')
        ids.push(...rows.map((entry) => entry.row.call_id))
      },
    })
    draining.begin()
    expect(await draining.settled(50)).toBe(false)
    expect(draining.lagMs()).toBeGreaterThan(0)
    expect(await draining.settled(5000)).toBe(true)
    expect([ids, errors.length, draining.lagMs()]).toEqual([count(50), 1, 0])
    await draining.stop()
  })
})

describe('a file of the spool on a disk that forgets', () => {
  const headerBytes = 16
  const sizeOf = (id: number): number => frame(encodeEntry({ row: row(id) }), 1).byteLength
  const startOf = (id: number): number => headerBytes + count(id).reduce((sum, each) => sum + sizeOf(Number(each)), 0)
  const flip = async (path: string, ...places: number[]): Promise<void> => {
    const bytes = await readFile(path)
    for (const at of places) bytes[at] = (bytes[at] ?? 0) ^ 0x20
    await writeFile(path, bytes)
  }
  const onlyFile = async (): Promise<string> => join(folder, (await readdir(folder)).find((name) => name.endsWith('.seg')) ?? '')
  const twelve = async (): Promise<string> => {
    for (let id = 0; id < 12; id += 1) await append(id)
    return onlyFile()
  }
  const said = (): string[] => errors.map(String)

  it.each([
    ['in what a row says', 40],
    ['in the length of a frame', 2],
    ['in the last byte of a length, so that it leads elsewhere', 3],
    ['in a checksum', 5],
    ['in what a row begins with', 14],
  ])('loses the damaged row alone, with a byte flipped %s', async (_, at) => {
    const path = await twelve()
    await flip(path, startOf(4) + at)
    const damaged = await readFile(path)
    const other = await reopen()
    expect(await drain(other)).toEqual(count(12).filter((id) => id !== '4'))
    expect(said()).toEqual([`Error: ${path} is damaged in 1 place: 11 rows were saved from it, and it is kept aside as ${path}.damaged`])
    expect((await readFile(`${path}.damaged`)).equals(damaged)).toBe(true)
    expect(other.bytes()).toBe(0)
    await other.close()
    expect([
      await drain(await reopen()),
      errors.length,
      (await readdir(folder)).filter((name) => name.endsWith('.damaged')).length,
    ]).toEqual([[], 1, 1])
  })
  it('finds rows behind two places, and after a second crash has what it saved', async () => {
    const path = await twelve()
    await flip(path, startOf(0) + 1, startOf(1) + 2, startOf(7) + 30)
    await reopen()
    expect(said()).toEqual([expect.stringMatching(/is damaged in 2 places: 9 rows were saved/)])
    expect(await drain(await reopen())).toEqual(count(12).filter((id) => !['0', '1', '7'].includes(id)))
    expect(errors).toHaveLength(1)
  })
  it.each([0, 3, 4, 7, 8, 12, 15])('has every row although byte %d of the header is flipped', async (at) => {
    const path = await twelve()
    await flip(path, at)
    expect(await drain(await reopen())).toEqual(count(12))
    expect(said()).toEqual([expect.stringMatching(/is damaged in 1 place: 12 rows were saved/)])
  })
  it('keeps the order over several files when the header and the first row of one are damaged', async () => {
    for (let id = 0; id < 300; id += 1) await append(id, 64 * 1024)
    const names = (await readdir(folder)).map((name) => join(folder, name))
    const first = (await Promise.all(names.map(async (name) => [(await readFile(name)).readUInt32BE(12), name] as const))).sort(
      ([a], [b]) => a - b,
    )[1]?.[1]
    await flip(first ?? '', 15, 100)
    const left = (await drain(await reopen())).map(Number)
    expect([left.length, left]).toEqual([299, [...left].sort((a, b) => a - b)])
    expect(said()).toEqual([expect.stringMatching(/is damaged in 2 places/)])
  })
  it('says nothing of a torn tail, nor of what an earlier use of the file left behind it', async () => {
    for (let id = 10; id < 22; id += 1) await append(id)
    expect(await drain(spool)).toEqual(count(22, 10))
    await spool.close()
    spool = await reopen()
    for (let id = 30; id < 34; id += 1) await append(id)
    expect((await reopen()).bytes()).toBe(4 * sizeOf(30))
    await flip(await onlyFile(), headerBytes + 3 * sizeOf(30) + 30)
    expect([await drain(await reopen()), errors]).toEqual([count(33, 30), []])
  })
  it('saves what a file holds that lost its end, and removes files that were cut while they were made', async () => {
    const path = await twelve()
    await truncate(path, startOf(9) + 10)
    await writeFile(join(folder, 'empty.seg'), '')
    await writeFile(join(folder, 'zeros.seg'), Buffer.alloc(5000))
    const other = await reopen()
    expect([await drain(other), said()]).toEqual([count(9), [`Error: ${path} is cut short: 9 rows were saved from it, and it is removed`]])
    await other.close()
    for (const name of await readdir(folder)) expect([name, (await stat(join(folder, name))).size]).toEqual([name, segmentBytes])
  })
  it('reads a whole one about as fast as its checksums, whatever callers sent', async () => {
    const text = Buffer.from('{"call_id"'.repeat(6000))
    for (let id = 0; id < 120; id += 1) await spool.append(encodeEntry({ row: { ...row(id), input: text } }))
    const started = performance.now()
    await reopen()
    expect([performance.now() - started < 1000, errors]).toEqual([true, []])
  })
  it('is used again when all of it is in Postgres, so that a full disk stops nothing', async () => {
    await spool.close()
    await rm(await onlyFile(), { force: true, recursive: true })
    spool = await reopen(2 * segmentBytes)
    for (let id = 0; id < 140; id += 1) {
      await append(id, 64 * 1024)
      await drain(spool)
    }
    expect([await readdir(folder), errors]).toEqual([[expect.stringMatching(/\.seg$/)], []])
  })
})
