import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { connect } from '../src/connect.ts'
import { checkVariables, readEnvironment } from '../src/environment.ts'
import { readKeyFile } from '../src/key-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'repertoire-cli-'))
const keyFile = (name: string, text: string, mode: number): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}
const local = { url: 'http://127.0.0.1:4999', key: undefined, keyFile: undefined }

afterAll(() => rmSync(folder, { recursive: true }))

describe('a key file', () => {
  it('is read when its owner alone can read it', () => {
    expect(readKeyFile(keyFile('good', 'rep_agent_x\n', 0o600))).toBe('rep_agent_x')
    expect(readKeyFile(keyFile('read-only', 'rep_agent_y', 0o400))).toBe('rep_agent_y')
  })
  it.each([0o640, 0o604, 0o644, 0o660])('is refused with mode %o, with the command that mends it', (mode) => {
    const file = keyFile(`open-${mode}`, 'rep_agent_x', mode)
    expect(() => readKeyFile(file)).toThrow(expect.objectContaining({ exit: 'denied', hint: `chmod 600 ${file}` }))
  })
  it('is refused when it is not there, is empty, or is no file', () => {
    expect(() => readKeyFile(join(folder, 'absent'))).toThrow('there is no such file')
    expect(() => readKeyFile(keyFile('empty', ' \n', 0o600))).toThrow('is empty')
    expect(() => readKeyFile(folder)).toThrow('not a key file')
  })
})

describe('the way to the registry', () => {
  it('needs a key, and says where to put it', () => {
    expect(() => connect({}, local)).toThrow(
      expect.objectContaining({ code: 'NO_KEY', exit: 'denied', hint: expect.stringContaining('REPERTOIRE_KEY') as string }),
    )
  })
  it('takes the key file of the command before the key of the environment, and that before its key file', () => {
    const broken = join(folder, 'absent')
    expect(() => connect({ keyFile: broken }, { ...local, key: 'rep_agent_x' })).toThrow('cannot be read')
    expect(connect({}, { ...local, key: 'rep_agent_x', keyFile: broken }).address).toBe('http://127.0.0.1:4999')
    expect(() => connect({}, { ...local, keyFile: broken })).toThrow('cannot be read')
  })
  it('refuses a key that no header could carry', () => {
    expect(() => connect({}, { ...local, key: 'rep agent' })).toThrow(expect.objectContaining({ code: 'BAD_KEY' }))
  })
  it.each(['ftp://host', 'host:4000', '', 'http://user:pw@host', 'http://host/?a=1'])('refuses the address %j', (url) => {
    expect(() => connect({ url }, { ...local, key: 'rep_agent_x' })).toThrow(expect.objectContaining({ exit: 'usage' }))
  })
  it('warns of a key that would travel in the clear, and not on this machine', () => {
    const remarkFor = (url: string): string | undefined => connect({ url }, { ...local, key: 'rep_agent_x' }).remark
    expect(remarkFor('http://registry.example.com')).toContain('unencrypted')
    expect(['https://registry.example.com', 'http://localhost:1', 'http://[::1]:1', 'http://127.0.0.2'].map(remarkFor)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the environment', () => {
  it('counts what is set to nothing as not set', () => {
    expect(readEnvironment({ REPERTOIRE_URL: '', REPERTOIRE_KEY: '' })).toEqual({
      url: 'http://127.0.0.1:4000',
      key: undefined,
      keyFile: undefined,
    })
  })
  it('refuses a slip of the pen and remarks on a stranger', async () => {
    await expect(checkVariables({ REPERTOIRE_KEYFILE: 'x' })).rejects.toThrow('REPERTOIRE_KEY_FILE')
    expect(await checkVariables({ REPERTOIRE_SOMETHING_ELSE: '1', REPERTOIRE_PORT: '1', PATH: '' })).toEqual([
      'REPERTOIRE_SOMETHING_ELSE is not a variable of ours, and nothing reads it',
    ])
  })
})
