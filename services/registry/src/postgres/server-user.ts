import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The user a Postgres server runs as when we are root, which the server refuses to be. */
export type ServerUser = { readonly name: string; readonly uid: number; readonly gid: number }

/** The user to run as; undefined when we are not root and the server simply runs as us. Makes `postgres` when it is absent. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid === undefined || process.getuid() !== 0) return undefined
  const known = lookUp('postgres')
  if (known !== undefined) return known
  // Debian and its kin have useradd; small images have adduser alone.
  for (const [command, args] of [
    ['useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']],
    ['adduser', ['-S', '-D', '-H', 'postgres']],
  ] as const) {
    spawnSync(command, args, { timeout: 10_000 })
    const made = lookUp('postgres')
    if (made !== undefined) return made
  }
  throw new Error(
    'Postgres does not run as root, and the user postgres could not be made: make it, run as another user, or set DATABASE_URL.',
  )
}

function lookUp(name: string): ServerUser | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { name, uid: Number(uid), gid: Number(gid) }
}
