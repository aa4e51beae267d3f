import { Repertoire } from '@repertoire/sdk'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { houseDir } from '../support/read-house.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from './start-process.ts'

let folder: { readonly path: string; readonly remove: () => Promise<void> }
let registry: RegistryProcess
beforeAll(async () => {
  folder = await temporaryFolder()
  registry = await startProcess({ REPERTOIRE_DATA_DIR: join(folder.path, 'data') })
})
afterAll(async () => {
  await registry.end('SIGTERM')
  await folder.remove()
})

/** The commands of the README's tour, one after the other, as somebody pastes them. */
function tourCommands(): string[] {
  const readme = readFileSync(join(houseDir, 'README.md'), 'utf8')
  const tour = readme.slice(readme.indexOf('## A tour'), readme.indexOf('## The map'))
  return [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((block) => (block[1] ?? '').trim().split('\n'))
}

describe('the shipped skills', () => {
  it('are all released by the first start', () => {
    expect(registry.output()).toMatch(/: 11 released, 0 published as candidates, 0 unchanged, 0 refused/)
  })
})

describe("the README's tour", () => {
  it('works when it is pasted line by line', () => {
    const commands = tourCommands()
    expect(commands.length).toBeGreaterThan(15)
    const script = commands
      .map(
        (command) =>
          `echo "### ${commands.indexOf(command)}"; ${command.replaceAll('.data/admin.key', '$KEY_FILE').replaceAll('/tmp/hello-world', '$WORK/hello-world')}; echo "=> $?"`,
      )
      .join('\n')
    const { PATH = '', HOME = '' } = process.env
    const run = spawnSync('bash', ['-c', script], {
      cwd: houseDir,
      encoding: 'utf8',
      timeout: 100_000,
      env: { PATH, HOME, REPERTOIRE_URL: registry.url, KEY_FILE: join(folder.path, 'data', 'admin.key'), WORK: folder.path },
    })
    const parts = run.stdout.split(/^### \d+\n/m).slice(1)
    const codeOf = (needle: string): string[] =>
      commands.flatMap((command, index) => (command.includes(needle) ? [/=> (\d+)/.exec(parts[index] ?? '')?.[1] ?? '?'] : []))
    const outputOf = (needle: string): string[] =>
      commands.flatMap((command, index) => (command.includes(needle) ? [parts[index] ?? ''] : []))
    expect([
      run.stderr.includes('command not found'),
      codeOf('repertoire list'),
      codeOf('agents create'),
      codeOf('repertoire grant '),
      codeOf('repertoire publish'),
      codeOf('repertoire release'),
    ]).toEqual([false, ['0'], ['0', '0'], ['0', '0'], ['0', '0'], ['0']])
    // Refused without the tag, then one shape each, then a wrong argument and an order that is not there.
    expect(codeOf('call query-order')).toEqual(['4', '0', '0', '3', '8'])
    const [, one = '', two = ''] = outputOf('call query-order')
    expect([one.includes('"amount"'), one.includes('total_amount'), two.includes('"total_amount"')]).toEqual([true, false, true])
    expect(codeOf('call hello-world')).toEqual(['0'])
    // A canary for the desk alone, a promotion that was looked at first, and back again.
    expect([...codeOf('canary start'), ...codeOf('repertoire promote'), ...codeOf('repertoire rollback')]).toEqual(['0', '0', '0', '0'])
    const [canary = '', after = ''] = outputOf('resolve hello-world')
    expect([
      /1\.1\.0.*allow/s.test(canary),
      outputOf('promote hello-world --dry-run')[0]?.includes('1.1.0'),
      after.includes('1.0.0'),
    ]).toEqual([true, true, true])
    expect(outputOf('repertoire calls')[0]).toMatch(/PERMISSION_DENIED|denied/)
  })
  it('left rows that say why each agent got its version', async () => {
    const { body } = await registry.send('GET', '/v1/calls?skill=query-order&outcome=ok')
    expect(
      body.data.items.map((row: Record<string, unknown>) => [row['agent_id'], row['requested_range'], row['version'], row['via']]),
    ).toEqual([
      ['report-bot', '^2', '2.0.0', 'stable'],
      ['desk-bot', '^1', '1.1.0', 'stable'],
    ])
  })
  it('works through the SDK as it is shown', async () => {
    const { body } = await registry.send('POST', '/v1/agents/desk-bot/keys', {})
    const client = new Repertoire({ url: registry.url, key: body.data.key, requires: { 'query-order': '^1' } })
    const { data, meta } = await client.call<{ orders: { amount: number }[] }>('query-order', { order_id: '71781' })
    expect([typeof data.orders[0]?.amount, meta.version, meta.via, (await client.list()).map((skill) => skill.name)]).toEqual([
      'number',
      '1.1.0',
      'stable',
      expect.arrayContaining(['query-order', 'handle-order']),
    ])
  })
})
