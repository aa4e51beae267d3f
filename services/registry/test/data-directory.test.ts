import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { houseDir } from '../../../test/support/read-house.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const program = `
import { takeDataDirectory } from './services/registry/src/start/data-directory.ts'
const [dir, at] = process.argv.slice(-2)
while (Date.now() < Number(at));
takeDataDirectory(dir).then(() => { process.stdout.write('mine\\n'); setTimeout(() => process.exit(0), 1500) }, () => process.exit(0))
`

describe('the lock of a data directory', () => {
  it('goes to one process alone, however many come at once, also over the lock of a dead one', async () => {
    const file = join(folder, 'take.mts')
    await writeFile(file, program.replace('./services', `${houseDir}services`))
    for (const isStale of [false, true, true, true]) {
      const dir = join(folder, `data-${Math.random()}`)
      execFileSync('mkdir', ['-p', dir])
      if (isStale) await writeFile(join(dir, 'registry.lock'), '999999 1\n')
      const at = Date.now() + 2500
      const script = Array.from({ length: 4 }, () => `${process.execPath} --import tsx ${file} ${dir} ${at} &`).join(' ')
      const { stdout } = spawnSync('bash', ['-c', `${script} wait`], {
        cwd: houseDir,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '' },
      })
      expect(stdout).toBe('mine\n')
    }
  })
})
