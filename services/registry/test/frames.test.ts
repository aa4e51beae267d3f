import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packReadyRow, writeReadyRow } from '../src/log/ready-rows.ts'
import { decodeEntry, encodeEntry, encodeRow, frameAll, readFrames } from '../src/log/spool/frames.ts'
import type { LogEntry, NewCallRow } from '../src/stored.ts'
import { newRow } from './support/new-row.ts'

const row = (id: number, bytes = 10): NewCallRow =>
  newRow({ call_id: String(id), ts: new Date(1_700_000_000_000 + id), skill: 'x', input: Buffer.alloc(bytes, 97) })
const frame = (payload: Buffer, generation: number): Buffer => frameAll([payload], generation)

describe('frames', () => {
  it('give back what was put in: any columns, any bytes, none', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.uint8Array()), fc.option(fc.uint8Array()), (skill, input, output) => {
        const back = decodeEntry(encodeEntry({ row: { ...row(1), skill, input, output } })).row
        expect([back.skill, back.ts.getTime(), back.input && [...back.input], back.output && [...back.output]]).toEqual([
          skill,
          1_700_000_000_001,
          input && [...input],
          output && [...output],
        ])
      }),
    )
  })
  it('that were written before there was redaction say that nothing was taken out', () => {
    const { redaction: _, ...before } = row(1)
    expect(decodeEntry(encodeRow(before as NewCallRow)).row.redaction).toEqual({ rules: [], count: 0, failed: false })
    const redaction = { rules: ['card'], count: 1, failed: false }
    expect(decodeEntry(encodeEntry({ row: { ...row(1), redaction } })).row.redaction).toEqual(redaction)
  })
  it('bring their rows as they are copied, the same as if they were written from what the frame says', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const rows = fc.record({
      skill: fc.oneof(text, fc.string()),
      error_message: fc.option(fc.oneof(text, fc.constant('\ud83d\ude00'.repeat(700)), fc.string({ minLength: 1020, maxLength: 1040 }))),
      labels: fc.dictionary(fc.string(), text, { maxKeys: 3 }),
      violations: fc.array(fc.record({ path: text, rule: text }), { maxLength: 2 }),
      input: fc.option(fc.uint8Array()),
    })
    fc.assert(
      fc.property(rows, fc.boolean(), (change, closesIntent) => {
        const entry = { row: { ...row(1), ...change }, closesIntent } as LogEntry
        const { ready, ...back } = decodeEntry(encodeEntry(entry))
        const written = writeReadyRow(back.row)
        expect(back.closesIntent).toBe(closesIntent)
        expect([ready?.callId, String(ready?.line), String(ready?.message), ready?.input && [...ready.input]]).toEqual([
          '1',
          String(written.line),
          String(written.message),
          change.input && [...change.input],
        ])
      }),
    )
  })
  it('of an intent, of an answer, and of a call that may have happened say only what they are', () => {
    const intent = { kind: 'once', spool: 'a', instance: 'b' } as const
    const completes = { agentId: 'a', skillKey: 'x', keyHash: 'h', callId: '1', answer: Buffer.from('{}') }
    for (const entry of [{ row: row(1), intent }, { row: row(1), completes }, { row: { ...row(1), outcome: 'unknown' } }] as const)
      expect(decodeEntry(encodeEntry(entry))).toEqual(entry)
  })
  it('of a release whose table had other columns are read as what they say', () => {
    const bytes = encodeEntry({ row: row(1) })
    const ready = packReadyRow({ row: row(1) }, true) ?? Buffer.alloc(0)
    expect(decodeEntry(bytes).ready?.callId).toBe('1')
    bytes.writeUInt8(bytes.readUInt8(bytes.byteLength - ready.byteLength) ^ 1, bytes.byteLength - ready.byteLength)
    expect(decodeEntry(bytes)).toEqual({ row: row(1), closesIntent: undefined, ready: undefined })
  })
  it('end where a tail is torn, wherever it is torn, and where the file was used before', () => {
    const frames = [1, 2, 3].map((id) => frame(encodeEntry({ row: row(id) }), 7))
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
