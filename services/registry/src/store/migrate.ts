import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

const folder = fileURLToPath(new URL('../../../../migrations', import.meta.url))

// One number for all replicas of a database; whoever comes second waits, then finds nothing to do.
const lockKey = 0x52455045
const usualDeadlineMs = 10_000

/** Brings the schema up to date and runs the first-start work of the installation, one replica at a time. */
export async function migrate<T>(url: string, afterwards: () => Promise<T>, connectDeadlineMs = usualDeadlineMs): Promise<T> {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    // Asked for by the driver, and answered to nobody: a connection that broke there would end the process.
    fetch_types: false,
    connect_timeout: 10,
    connection: { application_name: 'repertoire-migrate', lock_timeout: 120_000 },
  })
  try {
    await firstAnswer(sql, connectDeadlineMs)
    await sql`select pg_advisory_lock(${lockKey})`
    await applyMigrations(drizzle(sql), { migrationsFolder: folder })
    await sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - 1, 5)`
    return await afterwards()
  } finally {
    await sql.end({ timeout: 1 })
  }
}

// The driver tries for ever when whoever listens hangs up; a start has to end.
async function firstAnswer(sql: postgres.Sql, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('the database did not answer'), { code: 'CONNECT_TIMEOUT' })), deadlineMs)
  })
  const answer = sql`select 1`.execute()
  answer.catch(() => undefined)
  await Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
