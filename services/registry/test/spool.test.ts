import fc from 'fast-check'
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDrain } from '../src/log/spool/drain.ts'
import { decodeRow, encodeRow, frame, readFrames } from '../src/log/spool/frames.ts'
import { openSpool, type Spool } from '../src/log/spool/open-spool.ts'
import { segmentBytes } from '../src/log/spool/segment.ts'
import type { NewCallRow } from '../src/stored.ts'

let folder: string
let spool: Spool
const mebibyte = 1024 * 1024
const errors: unknown[] = []
const reopen = async (maxBytes = 64 * mebibyte): Promise<Spool> =>
  openSpool({ folder, maxBytes, onError: (error) => void errors.push(error) })
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repertoire-spool-test-'))
  errors.length = 0
  spool = await reopen()
})
afterEach(async () => {
  await spool.close()
  await rm(folder, { recursive: true, force: true })
})

const row = (id: number, bytes = 10): NewCallRow =>
  ({
    call_id: String(id),
    ts: new Date(1_700_000_000_000 + id),
    skill: 'x',
    input: Buffer.alloc(bytes, 97),
    output: null,
    labels: {},
  }) as unknown as NewCallRow
const append = (id: number, bytes?: number): Promise<unknown> => spool.append(encodeRow(row(id, bytes)))
/** Drains everything into a list of ids. */
const drain = async (from: Spool): Promise<string[]> => {
  const ids: string[] = []
  const draining = startDrain({
    spool: from,
    write: async (rows) => void ids.push(...rows.map((entry) => entry.call_id)),
    onError: (error) => void errors.push(error),
  })
  expect(await draining.settled(5000)).toBe(true)
  await draining.stop()
  return ids
}
const count = (to: number, from = 0): string[] => Array.from({ length: to - from }, (_, index) => String(from + index))

describe('frames', () => {
  it('give back what was put in: any columns, any bytes, none', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.uint8Array()), fc.option(fc.uint8Array()), (skill, input, output) => {
        const back = decodeRow(encodeRow({ ...row(1), skill, input, output }))
        expect([back.skill, back.ts.getTime(), back.input && [...back.input], back.output && [...back.output]]).toEqual([
          skill,
          1_700_000_000_001,
          input && [...input],
          output && [...output],
        ])
      }),
    )
  })
  it('end where a tail is torn, wherever it is torn, and where the file was used before', () => {
    const frames = [1, 2, 3].map((id) => frame(encodeRow(row(id)), 7))
    const whole = Buffer.concat(frames)
    for (let cut = 0; cut < whole.byteLength; cut += 1) {
      const { payloads, end } = readFrames(whole.subarray(0, cut), 7)
      expect([cut, end <= cut, payloads.length]).toEqual([
        cut,
        true,
        frames.filter((_, index) => Buffer.concat(frames.slice(0, index + 1)).byteLength <= cut).length,
      ])
    }
    expect(readFrames(whole, 8).payloads).toHaveLength(0)
    whole[20] = (whole[20] ?? 0) ^ 1
    expect(readFrames(whole, 7).payloads).toHaveLength(0)
  })
})

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
    for (let id = 500; id < 510; id += 1) await other.append(encodeRow(row(id)))
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
    const draining = startDrain({
      spool,
      onError: (error) => void errors.push(error),
      write: async (rows) => {
        attempts += 1
        if (attempts < 4) throw new Error('away')
        ids.push(...rows.map((entry) => entry.call_id))
      },
    })
    expect(await draining.settled(50)).toBe(false)
    expect(draining.lagMs()).toBeGreaterThan(0)
    expect(await draining.settled(5000)).toBe(true)
    expect([ids, errors.length, draining.lagMs()]).toEqual([count(50), 1, 0])
    await draining.stop()
  })
})
