import { compileRedaction } from '@repertoire/core'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'
import { openApplicationLog, redactLine } from '../src/start/application-log.ts'
import { passOnLines } from '../src/start/pass-on-lines.ts'

const key = 'ghp_ABCDEFGHIJKLMNOPQRST0123'
const policy = compileRedaction({ rules: [], keys: [] }, () => '')
const failing = { ...policy, judge: (): never => fail() }

describe('the log of the process', () => {
  const lines: string[] = []
  const logger = openApplicationLog({ level: 'trace', replica: 'one', redaction: policy }, { write: (line) => void lines.push(line) })
  it('holds no secret, in a message, an error, its stack and cause, or a field', () => {
    logger.info(`at https://jane:hunter2@db.example.com with ${key}`)
    logger.error({ err: new Error(`refused ${key}`, { cause: new Error(`of ${key}`) }), request_id: 'r1' }, 'a fault of ours')
    logger.warn({ options: { password: 'hunter2', [key]: 1 } }, '%s said no', key)
    logger.child({ authorization: 'Bearer hunter2hunter2' }).debug('asked')
    expect([lines.length, lines.join('').includes(key), lines.join('').includes('hunter2')]).toEqual([4, false, false])
    expect(lines.map((line) => JSON.parse(line).replica)).toEqual(['one', 'one', 'one', 'one'])
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ request_id: 'r1', msg: 'a fault of ours', err: { type: 'Error' } })
  })
  it('leaves a line out that cannot be redacted', () => {
    expect(redactLine(failing, '{"msg":"x7","token":1}\n')).toBe(
      '{"level":50,"msg":"a line of this log could not be redacted, and is left out"}\n',
    )
  })
})

describe('what another process says', () => {
  const passed = async (...chunks: string[]): Promise<string[]> => {
    const lines: string[] = []
    const from = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
    passOnLines(from, (line) => void lines.push(line))
    await finished(from)
    return lines
  }
  it('comes in whole lines, however it was cut on its way', async () => {
    expect(await passed('one\ntw', 'o\n', '\nthr', 'ee')).toEqual(['one\n', 'two\n', 'three\n'])
  })
  it('is left out where a line never ends, and goes on behind it', async () => {
    expect(await passed('a\n', 'x'.repeat(60_000), 'x'.repeat(60_000), 'x\nb\n')).toEqual(['a\n', 'b\n'])
  })
})

function fail(): never {
  throw new Error('no verdict')
}
