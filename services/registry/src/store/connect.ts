import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { arrayTypes } from './array-types.ts'
import { createGate, type Gate, type GateOptions } from './gate.ts'
import { createListening, type Listening } from './listening.ts'
import { openSocket } from './open-socket.ts'

/** Drizzle over a pool. */
export type Drizzle = ReturnType<typeof drizzle>

/** Drizzle inside a transaction. */
export type DrizzleTx = Parameters<Parameters<Drizzle['transaction']>[0]>[0]

/** Connections for one kind of work, and the gate before them. Ask for `db` and `sql` anew each time: a dead link replaces them. */
export type Pool = {
  readonly name: string
  readonly sql: postgres.Sql
  readonly db: Drizzle
  readonly gate: Gate
  /** How long a statement may take, in milliseconds. */
  readonly statementMs: number
  readonly reset: () => void
  readonly close: () => Promise<void>
}

/** A database and its pools, so that none starves the others. */
export type Database = {
  /** What management reads and writes. */
  readonly general: Pool
  /** The call log; Drizzle changes how a client reads dates, so it is never used here. */
  readonly log: Pool
  /** Questions to the call log, counting it and following it: none of them holds up what is written to it. */
  readonly reading: Pool
  /** Stepping back and revoking, which must always get through. */
  readonly urgent: Pool
  /** The catalogue, heartbeats, and waiting for replicas. */
  readonly pulse: Pool
  readonly pools: readonly Pool[]
  readonly listen: Listening['listen']
  /** Whether a new connection gets an answer. */
  readonly probe: () => Promise<boolean>
  /** Runs work that may take minutes on a connection of its own, which waits for no lock longer than a moment. */
  readonly maintain: <T>(work: (sql: postgres.Sql) => Promise<T>) => Promise<T>
  /** Listens again on a new connection. */
  readonly relisten: () => void
  readonly close: () => Promise<void>
}

const probeMs = 1000
const maintainMs = 20 * 60_000

/** Opens the pools; nothing is connected before the first query. */
export function openDatabase(url: string): Database {
  const general = openPool(url, 'general', { connections: 10, queue: 256, waitMs: 250, statementMs: 2000 })
  const log = openPool(url, 'log', { connections: 8, queue: 256, waitMs: 800, statementMs: 2000 })
  const reading = openPool(url, 'reading', { connections: 6, queue: 128, waitMs: 250, statementMs: 2000 })
  const urgent = openPool(url, 'urgent', { connections: 4, queue: 512, waitMs: 1000, statementMs: 2000 })
  // A first load of a large catalogue takes its time.
  const pulse = openPool(url, 'pulse', { connections: 2, queue: 64, waitMs: 1500, statementMs: 5000 })
  const pools = [general, log, reading, urgent, pulse]
  const listening = createListening(() => connect(url, 'listen', single))
  return {
    general,
    log,
    reading,
    urgent,
    pulse,
    pools,
    listen: listening.listen,
    probe: async () => {
      const client = connect(url, 'probe', single)
      const answer = client`select 1`.then(
        () => true,
        () => false,
      )
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), probeMs)))
      return Promise.race([answer, late]).finally(() => {
        clearTimeout(timer)
        void client.end({ timeout: 0 }).catch(() => undefined)
      })
    },
    maintain: async (work) => {
      const client = postgres(url, {
        ...options,
        max: 1,
        connection: { statement_timeout: maintainMs / 2, lock_timeout: 200, application_name: 'repertoire-maintain' },
      })
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error(`looking after the database took longer than ${maintainMs / 60_000} minutes`)),
          maintainMs,
        )
      })
      const working = work(client)
      working.catch(() => undefined)
      return Promise.race([working, late]).finally(() => {
        clearTimeout(timer)
        void client.end({ timeout: 0 }).catch(() => undefined)
      })
    },
    relisten: listening.again,
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
    },
  }
}

type PoolSize = GateOptions & { readonly statementMs: number }

function openPool(url: string, name: string, { statementMs, ...size }: PoolSize): Pool {
  const open = (): postgres.Sql => connect(url, name, { max: size.connections, statementMs })
  let sql = open()
  let db: Drizzle | undefined
  const gate = createGate(size)
  return {
    name,
    gate,
    statementMs,
    get sql() {
      return sql
    },
    get db() {
      // Only where it is asked for: a client that Drizzle has seen takes dates otherwise, and the log reads them by hand.
      db ??= drizzle(sql)
      return db
    },
    reset: () => {
      const old = sql
      sql = open()
      db = undefined
      gate.forget()
      void old.end({ timeout: 0 }).catch(() => undefined)
    },
    close: () => sql.end({ timeout: 2 }),
  }
}

function connect(url: string, name: string, { max, statementMs }: { readonly max: number; readonly statementMs: number }): postgres.Sql {
  const planning = name === 'reading' ? readingPlans : {}
  const connection = { ...timeouts, ...planning, statement_timeout: statementMs, application_name: `repertoire-${name}` }
  return postgres(url, { ...options, max, connection })
}

// A database that comes back is found again within a second; the driver's own pauses grow to twenty.
const options = {
  connect_timeout: 5,
  backoff: () => 0.25 + Math.random() / 2,
  idle_timeout: 60,
  max_lifetime: 60 * 30,
  onnotice: () => undefined,
  fetch_types: false,
  types: arrayTypes,
  socket: openSocket,
} as const
/**
 * How questions to the log are planned. A plan that fits every window fits none: which days are read and how few rows are
 * wanted is known only when it is asked. An hour of calls is counted in memory, not sorted on disk; there are six of these
 * connections. Compiling a plan takes longer than any of them.
 */
export const readingPlans = { plan_cache_mode: 'force_custom_plan', work_mem: '32MB', jit: 'off' } as const
const timeouts = { idle_in_transaction_session_timeout: 5000, lock_timeout: 1000 } as const
const single = { max: 1, statementMs: 5000 } as const
