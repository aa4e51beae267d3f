import { readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A running server of a data directory. */
export type Postmaster = { readonly pid: number; readonly port: number; readonly isReady: boolean }

/**
 * The live server of a data directory; the lock file of a dead one is cleared away. Not to be asked while a server is starting:
 * between the look and the clearing it may have put its own file there.
 */
export async function livePostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const live = await seePostmaster(clusterDir)
  if (live === undefined) await rm(fileOf(clusterDir), { force: true })
  return live
}

/** The live server of a data directory, without touching anything. */
export async function seePostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(fileOf(clusterDir), 'utf8').catch(() => '')
  const [pidLine, directory, , portLine, , , , status] = text.split('\n')
  const pid = Number(pidLine)
  if (!Number.isInteger(pid) || pid <= 0 || directory === undefined) return undefined
  if (isAlive(pid) && (await isPostgres(pid))) {
    const port = Number(portLine)
    return { pid, port, isReady: Number.isInteger(port) && status?.trim() === 'ready' }
  }
  return undefined
}

function fileOf(clusterDir: string): string {
  return join(clusterDir, 'postmaster.pid')
}

/** Whether a process is there, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// After a restart of the machine the number may belong to anybody.
async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined)
  const name = program ?? (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''))
  return name.includes('postgres')
}
