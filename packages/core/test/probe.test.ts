import { pauseAfterTry, probeFrom, readVerdict } from '@repertoire/core'
import { describe, expect, it } from 'vitest'

const verdict = (text: string): boolean | null => readVerdict(Buffer.from(text))

describe('a probe', () => {
  it('says that it happened or did not by true and false alone; everything else is that nobody knows', () => {
    expect([verdict('{"happened":true,"note":"x"}'), verdict('{"happened":false}')]).toEqual([true, false])
    for (const text of ['{"happened":null}', '{"happened":"true"}', '{"happened":1}', '{}', '[true]', 'true', 'null', '', '{"happened":tr'])
      expect([text, verdict(text)]).toEqual([text, null])
  })
  it('is asked again after growing pauses, and six times at most', () => {
    const pauses = [1, 2, 3, 4, 5, 6].map(pauseAfterTry)
    expect(pauses).toEqual([30_000, 120_000, 600_000, 3_600_000, 21_600_000, undefined])
  })
  it('is never asked before the call it is asked about must have ended', () => {
    expect(probeFrom({ startedMs: 1000, timeoutMs: 300_000 })).toBe(311_000)
  })
})
