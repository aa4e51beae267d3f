import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../src/program.ts'
import { readVersionReference } from '../src/version-reference.ts'

const sent: string[] = []
beforeEach(() => {
  sent.length = 0
  vi.stubEnv('REPERTOIRE_URL', 'http://127.0.0.1:9')
  vi.stubEnv('REPERTOIRE_KEY', 'rep_agent_x')
  vi.stubGlobal('fetch', async (url: unknown, init: RequestInit = {}) => {
    sent.push(`${init.method} ${String(url).replace('http://127.0.0.1:9', '')} ${String(init.body)}`)
    const error = { code: 'NOT_FOUND', message: 'no', retryable: false }
    return Response.json({ ok: false, data: null, error, meta: { request_id: 'r', revision: 1, warnings: [] } }, { status: 404 })
  })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

const run = (...args: string[]): Promise<unknown> => {
  const program = createProgram({ isJson: true })
  return program.parseAsync(['node', 'repertoire', ...args, '--reason', 'the test wants it so', '--dry-run'])
}
const commands = [
  ['release', ['release'], 'versions/1.2.0/release'],
  ['deprecate', ['deprecate'], 'versions/1.2.0/deprecate'],
  ['yank', ['yank'], 'versions/1.2.0/yank'],
  ['unyank', ['unyank'], 'versions/1.2.0/unyank'],
  ['block', ['block'], 'versions/1.2.0/block'],
  ['canary start', ['canary', 'start', '--percent', '5'], 'rollouts'],
] as const

describe('a version on the command line', () => {
  it.each(commands)('of %s is written in two words or in one', async (_, args, path) => {
    await expect(run(...args, 'query-order', '1.2.0')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(run(...args, 'query-order@1.2.0')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(sent).toEqual([sent[0], sent[0]])
    expect(sent[0]).toContain(`POST /v1/skills/query-order/${path}?dry_run=true`)
    expect(sent[0]?.includes('"version":"1.2.0"')).toBe(path === 'rollouts')
  })
  it.each(commands)('of %s is refused when it is missing or given twice, and nothing is sent', async (_, args) => {
    await expect(run(...args, 'query-order')).rejects.toMatchObject({ exit: 'usage' })
    await expect(run(...args, 'query-order@1.2.0', '1.2.0')).rejects.toMatchObject({ exit: 'usage' })
    expect(sent).toEqual([])
  })
  it.each(commands)('of %s is explained by the help', (_, args) => {
    let command = createProgram({ isJson: false })
    for (const word of args.filter((each) => /^[a-z]/.test(each)))
      command = command.commands.find((each) => each.name() === word) ?? command
    expect(command.helpInformation()).toMatch(/<name> \[version\]/)
    expect(command.helpInformation().replace(/\s+/g, ' ')).toContain('the skill, or name@version in one word')
  })
  it('is told how to be written', () => {
    expect(() => readVersionReference('a', undefined)).toThrow(expect.objectContaining({ hint: 'write a 1.2.0, or a@1.2.0' }))
    expect(() => readVersionReference('a@1.0.0', '2.0.0')).toThrow(expect.objectContaining({ hint: 'write a 2.0.0, or a@2.0.0' }))
  })
})
