import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'

/**
 * A database and its pools, so that none starves the others: one that Drizzle has made its own, one for the call log, and one
 * kept free for what must always get through: stepping back, the catalogue, heartbeats.
 */
export type Database = {
  readonly sql: postgres.Sql
  readonly logSql: postgres.Sql
  readonly db: Drizzle
  readonly reserved: Drizzle
  readonly close: () => Promise<void>
}

/** Drizzle over the general pool. */
export type Drizzle = ReturnType<typeof drizzle>

/** Drizzle inside a transaction. */
export type DrizzleTx = Parameters<Parameters<Drizzle['transaction']>[0]>[0]

/** Opens the pools; nothing is connected before the first query. */
export function openDatabase(url: string): Database {
  const sql = postgres(url, { ...options, max: 10, connection: { ...timeouts, application_name: 'repertoire' } })
  const logSql = postgres(url, { ...options, max: 6, connection: { ...timeouts, application_name: 'repertoire-log' } })
  const reservedSql = postgres(url, { ...options, max: 3, connection: { ...timeouts, application_name: 'repertoire-reserved' } })
  return {
    sql,
    logSql,
    db: drizzle(sql),
    reserved: drizzle(reservedSql),
    close: async () => {
      await Promise.all([sql, logSql, reservedSql].map((pool) => pool.end({ timeout: 2 })))
    },
  }
}

// A database that comes back is found again within a second; the driver's own pauses grow to twenty.
const options = {
  connect_timeout: 5,
  backoff: () => 0.25 + Math.random() / 2,
  idle_timeout: 60,
  max_lifetime: 60 * 30,
  onnotice: () => undefined,
} as const
const timeouts = { statement_timeout: 5000, idle_in_transaction_session_timeout: 5000, lock_timeout: 2000 } as const
