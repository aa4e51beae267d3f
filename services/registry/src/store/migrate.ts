import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

const folder = fileURLToPath(new URL('../../../../migrations', import.meta.url))

// One number for all replicas of a database; whoever comes second waits, then finds nothing to do.
const lockKey = 0x52455045

/** Brings the schema up to date and runs the first-start work of the installation, one replica at a time. */
export async function migrate<T>(url: string, afterwards: () => Promise<T>): Promise<T> {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    connection: { application_name: 'repertoire-migrate', lock_timeout: 120_000 },
  })
  try {
    await sql`select pg_advisory_lock(${lockKey})`
    await applyMigrations(drizzle(sql), { migrationsFolder: folder })
    await sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - 1, 5)`
    return await afterwards()
  } finally {
    await sql.end({ timeout: 5 })
  }
}
