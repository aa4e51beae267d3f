import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { startProcess, type RegistryProcess } from './start-process.ts'

/** A Postgres with an empty database, run by a registry of its own that serves nobody. */
export type SharedDatabase = { readonly url: string; readonly sql: postgres.Sql; readonly close: () => Promise<void> }

/** Starts one in a folder. */
export async function startSharedDatabase(folder: string): Promise<SharedDatabase> {
  const data = join(folder, 'shared')
  const host: RegistryProcess = await startProcess({ REPERTOIRE_DATA_DIR: data, REPERTOIRE_SKILLS_DIR: join(folder, 'none') })
  const pid = await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')
  const password = (await readFile(join(data, 'secrets', 'postgres'), 'utf8')).trim()
  const address = `postgres://repertoire:${password}@127.0.0.1:${pid.split('\n')[3]}`
  const admin = postgres(`${address}/postgres`, { max: 1, onnotice: () => undefined })
  await admin`create database replicas`
  await admin.end()
  const sql = postgres(`${address}/replicas`, { max: 2, onnotice: () => undefined })
  return {
    url: `${address}/replicas`,
    sql,
    close: async () => {
      await sql.end({ timeout: 1 })
      await host.end('SIGTERM')
    },
  }
}
