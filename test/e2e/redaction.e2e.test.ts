import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { skillFiles } from './skill-source.ts'
import { runToEnd, startProcess, temporaryFolder } from './start-process.ts'

let folder: { readonly path: string; readonly remove: () => Promise<void> }
let environment: Record<string, string>
const rules = { rules: [{ name: 'staff', pattern: 'EMP-\\d{6}', action: 'redact' }], keys: [] }

beforeAll(async () => {
  folder = await temporaryFolder()
  const skill = join(folder.path, 'skills', 'break-down')
  await mkdir(skill, { recursive: true })
  const files = {
    ...skillFiles('break-down', '1.0.0'),
    'skill.js': 'export const run = ({ key }) => { throw new Error(`cannot use ${key}`) }\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(skill, name), text)
  environment = {
    REPERTOIRE_DATA_DIR: join(folder.path, 'data'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
    REPERTOIRE_REDACT_FILE: join(folder.path, 'redact.json'),
  }
})
afterAll(() => folder.remove())

it('does not start with a rule that is none, and says which in one sentence', async () => {
  await writeFile(
    environment['REPERTOIRE_REDACT_FILE'] ?? '',
    JSON.stringify({ ...rules, rules: [{ ...rules.rules[0], pattern: '(?=x)' }] }),
  )
  const { code, output } = await runToEnd(environment)
  expect([code, output.trim().split('\n')]).toEqual([
    2,
    [
      expect.stringMatching(
        /^repertoire: REPERTOIRE_REDACT_FILE=.* is not right: the pattern of the rule staff is not one that runs in linear time \(RE2\): .*\.$/,
      ),
    ],
  ])
})

it('leaves no secret in what the process and its runner print, nor in the spool', async () => {
  await writeFile(environment['REPERTOIRE_REDACT_FILE'] ?? '', JSON.stringify(rules))
  const registry = await startProcess(environment)
  try {
    const secrets = ['ghp_ABCDEFGHIJKLMNOPQRST0123', 'EMP-123456']
    for (const key of secrets) {
      const reply = await registry.send('POST', '/v1/skills/break-down/calls', { arguments: { key } })
      expect([reply.status, JSON.stringify(reply.body.error.details).includes(key)]).toEqual([502, true])
    }
    await expect.poll(registry.output, { timeout: 5000 }).toMatch(/cannot use \[redacted:staff\]/)
    const spool = join(environment['REPERTOIRE_DATA_DIR'] ?? '', 'spool')
    const segments = (await readdir(spool)).filter((name) => name.endsWith('.seg'))
    const spooled = Buffer.concat(await Promise.all(segments.map((name) => readFile(join(spool, name)))))
    const kept = [registry.output(), spooled.toString('latin1')]
    expect(kept.map((text) => secrets.filter((secret) => text.includes(secret)))).toEqual([[], []])
    expect(kept.map((text) => text.includes('[redacted:github-token]'))).toEqual([true, true])
  } finally {
    await registry.end('SIGTERM')
  }
})
