import type { Comparison } from '@repertoire/sdk'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readExport } from '../src/read-export.ts'
import { sayComparison } from '../src/say-stats.ts'
import { readEvents } from '../src/sse.ts'

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? 1)
    yield text.slice(at, at + size)
    at += size
  }
}
const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 })
const read = async (text: string, format: 'ndjson' | 'csv', cut: readonly number[]) => {
  let written = ''
  const end = await readExport(inPieces(text, cut), format, async (piece) => void (written += piece))
  return { written, end }
}

describe('an export', () => {
  it('is whole when its last line says so, however it arrives, and that line is no row', async () => {
    const lines = '{"a":1}\n{"end":"is a key of a row"}\n'
    const table = 'call_id,note\r\n"1","#end,7"\r\n"2","a\n#end,9\r\n"\r\n'
    await fc.assert(
      fc.asyncProperty(sizes, async (cut) => {
        expect(await read(`${lines}{"end":{"complete":true,"rows":2}}\n`, 'ndjson', cut)).toEqual({
          written: lines,
          end: { complete: true, rows: 2 },
        })
        expect(await read(`${table}#end,2\r\n`, 'csv', cut)).toEqual({ written: table, end: { complete: true, rows: 2 } })
      }),
      { numRuns: 50 },
    )
  })
  it('that broke off is told, with what came of it', async () => {
    expect(await read('{"a":1}\n{"a":', 'ndjson', [4])).toEqual({ written: '{"a":1}\n{"a":', end: { complete: false } })
    expect(await read('a\r\n1\r\n#broken,1,UNAVAILABLE\r\n', 'csv', [5])).toEqual({
      written: 'a\r\n1\r\n',
      end: { complete: false, rows: 1, code: 'UNAVAILABLE' },
    })
    expect(await read('', 'csv', [1])).toEqual({ written: '', end: { complete: false } })
  })
})

describe('server-sent events', () => {
  it('are taken apart however they arrive; a comment may carry a place', async () => {
    const text = 'retry: 1000\n\n: still here\nid: 7\n\nid: 8\nevent: call\ndata: {"a":"x: y"}\n\nid: 9\nevent: ca'
    await fc.assert(
      fc.asyncProperty(sizes, async (cut) => {
        const events = []
        for await (const event of readEvents(inPieces(text, cut))) events.push(event)
        expect(events.slice(1)).toEqual([
          { id: '7', event: undefined, data: '' },
          { id: '8', event: 'call', data: '{"a":"x: y"}' },
        ])
      }),
      { numRuns: 50 },
    )
  })
})

describe('a comparison', () => {
  const side = { version: '1.0.0', arm: 'stable', units: 30, calls: 90, failures: 3, failure_rate: 0.033, mean_ms: 120.4 }
  const few = { difference: 0.1, low: null, high: null, verdict: 'too_few_units' } as const
  const comparison: Comparison = {
    by: 'rollout',
    randomised: true,
    unit: 'agent',
    skill: 'query-order',
    rollout_id: 'r',
    a: side,
    b: { ...side, version: '1.1.0', arm: 'canary', failure_rate: 0.5 },
    units_in_both: 0,
    failure_rate: { difference: 0.467, low: 0.25, high: 0.62, verdict: 'higher' },
    mean_ms: { difference: -3, low: -9, high: 3, verdict: 'no_difference_seen' },
    confidence: 0.95,
    least_units: 20,
  }
  it('says both sides, the range and the verdict', () => {
    const text = sayComparison(comparison, undefined)
    expect(text).toContain('1.1.0    30             90     50.0%   120')
    expect(text).toMatch(/failures, b less a +46\.7% \(25\.0% to 62\.0%\): higher/)
    expect(text).toMatch(/mean ms, b less a +-3\.0 \(-9\.0 to 3\.0\): no difference seen/)
  })
  it('gives no verdict of too few units, and says that nobody drew', () => {
    const text = sayComparison({ ...comparison, randomised: false, failure_rate: few, mean_ms: few }, undefined)
    expect(text).toContain('too few units: 20 on each side are needed')
    expect(text).toContain('nobody drew who calls which')
  })
})
