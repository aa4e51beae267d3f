import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the launcher says in one sentence what to do when nothing is built', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repertoire-cli-e2e-'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  copyFileSync(fileURLToPath(new URL('../bin/repertoire.js', import.meta.url)), join(folder, 'bin', 'repertoire.js'))
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin', 'repertoire.js'), 'list'], { encoding: 'utf8' })
  expect([status, stdout, stderr]).toEqual([1, '', 'repertoire: the command line is not built yet; run npm run build first.\n'])
  rmSync(folder, { recursive: true })
})
