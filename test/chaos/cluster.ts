import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../../services/registry/src/postgres/embedded.ts'
import { startProcess, type RegistryProcess } from '../e2e/start-process.ts'

/** Replicas on one durable Postgres, each of which can be killed and comes back. */
export type Cluster = {
  readonly url: string
  readonly sql: postgres.Sql
  readonly key: string
  readonly replicas: () => readonly (RegistryProcess | undefined)[]
  readonly killReplica: (index: number) => Promise<void>
  readonly startReplica: (index: number) => Promise<void>
  /** Kills the postmaster and all its children with it; it is started again at the same port by itself. */
  readonly killPostgres: () => Promise<void>
  /** What replicas said that ended without being told to. */
  readonly fallen: readonly string[]
  readonly close: () => Promise<void>
}

/** Starts so many replicas in a folder. */
export async function startCluster(folder: string, count: number, environment: Record<string, string> = {}): Promise<Cluster> {
  const dataDir = join(folder, 'database')
  const server = await startEmbeddedPostgres({ dataDir })
  const admin = postgres(server.url, { max: 1, onnotice: () => undefined })
  await admin`create database chaos`
  await admin.end()
  const url = server.url.replace(/\/postgres$/, '/chaos')
  const fallen: string[] = []
  const replicas: (RegistryProcess | undefined)[] = []
  const start = async (index: number): Promise<RegistryProcess> => {
    const replica = await startProcess({
      DATABASE_URL: url,
      REPERTOIRE_DATA_DIR: join(folder, `r${index}`),
      REPERTOIRE_REPLICA: `r${index}`,
      REPERTOIRE_SECRET_FILE: join(folder, 'install-secret'),
      REPERTOIRE_ADMIN_KEY_FILE: join(folder, 'admin.key'),
      REPERTOIRE_SKILLS_DIR: join(folder, 'none'),
      REPERTOIRE_LOG_LEVEL: 'error',
      ...environment,
    })
    replica.child.once('exit', (code, signal) => {
      if (replicas[index] === replica) fallen.push(`r${index} ended with ${code ?? signal}: ${replica.output().slice(-3000)}`)
    })
    return replica
  }
  for (const [index, replica] of (await Promise.all(Array.from({ length: count }, (_, index) => start(index)))).entries())
    replicas[index] = replica
  const sql = postgres(url, { max: 2, onnotice: () => undefined })
  return {
    url,
    sql,
    key: (await readFile(join(folder, 'admin.key'), 'utf8')).trim(),
    replicas: () => replicas,
    fallen,
    killReplica: async (index) => {
      const replica = replicas[index]
      replicas[index] = undefined
      await replica?.end('SIGKILL')
    },
    startReplica: async (index) => void (replicas[index] = await start(index)),
    killPostgres: async () => {
      const pid = await pidOf(dataDir)
      for (const each of [pid, ...childrenOf(pid)])
        try {
          process.kill(each, 'SIGKILL')
        } catch {
          // It ended with its parent.
        }
    },
    close: async () => {
      await Promise.all(replicas.splice(0).map((replica) => replica?.end('SIGTERM')))
      await sql.end({ timeout: 1 })
      await server.stop()
    },
  }
}

// Between two postmasters there is no such file for a moment: one that was killed just before is on its way back.
async function pidOf(folder: string): Promise<number> {
  const file = join(folder, 'postgres', 'postmaster.pid')
  for (const endsAt = Date.now() + 15_000; ; await pause(50)) {
    const text = await readFile(file, 'utf8').catch(() => '')
    const pid = Number(text.split('\n')[0])
    // The file of one that was killed names a process that is gone, and whose number may be anybody's by now.
    if (pid > 0 && (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() === 'postgres') return pid
    if (Date.now() > endsAt) {
      const said = await readFile(join(folder, 'postgres.log'), 'utf8').catch(() => '')
      throw new Error(`Postgres did not come back within 15 s; its file says ${text.split('\n').join(' ')}, and it: ${said.slice(-3000)}`)
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number)
  } catch {
    return []
  }
}
