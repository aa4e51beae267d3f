import { redactText } from '@repertoire/core'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../src/config.ts'
import { readRedaction } from '../src/start/read-redaction.ts'

let folder: string
let count = 0
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'repertoire-redact-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const secret = new Uint8Array(32).fill(1)
const fileOf = async (content: unknown): Promise<string> => {
  count += 1
  const file = join(folder, `${count}.json`)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
const refusal = async (file: string): Promise<string> => {
  try {
    await readRedaction(file, secret)
    return 'fine'
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replace(file, 'FILE')
    throw error
  }
}

describe('the file of redaction rules', () => {
  it('adds patterns and names to what is built in', async () => {
    const file = await fileOf({
      rules: [
        { name: 'staff', pattern: '\\bEMP-\\d{6}\\b', action: 'redact' },
        { name: 'patient', pattern: 'PAT-\\d+', action: 'hash' },
      ],
      keys: ['diagnosis'],
    })
    const policy = await readRedaction(file, secret)
    expect(redactText(policy, '{"a":"EMP-123456","diagnosis":"flu","password":"x7"}')).toBe(
      '{"a":"[redacted:staff]","diagnosis":"[redacted:key-name]","password":"[redacted:key-name]"}',
    )
    const other = await readRedaction(file, new Uint8Array(32).fill(2))
    const digest = redactText(policy, 'PAT-1')
    expect([digest, redactText(policy, 'PAT-1') === digest, redactText(other, 'PAT-1') === digest]).toEqual([
      expect.stringMatching(/^\[hash:[0-9a-f]{16}\]$/),
      true,
      false,
    ])
  })
  it('is not needed', async () => {
    expect(redactText(await readRedaction(undefined, secret), '{"password":"x7"}')).toBe('{"password":"[redacted:key-name]"}')
  })
  it.each([
    ['{"rules":', /^REPERTOIRE_REDACT_FILE=FILE is not JSON\.$/],
    [{ rule: [] }, /FILE is not right: : Unrecognized key/],
    [{ rules: [{ name: 'a b', pattern: 'x', action: 'redact' }] }, /FILE is not right: rules\.0\.name: a name is lower case words/],
    [{ rules: [{ name: 'a', pattern: 'x', action: 'mask' }] }, /FILE is not right: rules\.0\.action: /],
    [
      { rules: [{ name: 'twice', pattern: '(x)\\1', action: 'redact' }] },
      /FILE is not right: the pattern of the rule twice is not one that runs in linear time \(RE2\)/,
    ],
  ])('is refused in one sentence that names what is wrong: %j', async (content, sentence) => {
    expect(await refusal(await fileOf(content))).toMatch(sentence)
  })
  it('is refused when it is not there', async () => {
    expect(await refusal(join(folder, 'nowhere.json'))).toBe('REPERTOIRE_REDACT_FILE=FILE cannot be read: ENOENT.')
  })
})
