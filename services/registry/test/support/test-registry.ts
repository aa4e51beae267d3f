import { createHash, createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { inject } from 'vitest'
import { TagClasses } from '@repertoire/contract'
import { compileRedaction, proveSchemas } from '@repertoire/core'
import { databaseUrl } from '../../../../test/support/postgres-setup.ts'
import { makeFirstAdmin } from '../../src/access/make-first-admin.ts'
import { createApp } from '../../src/app.ts'
import { guardExecutors } from '../../src/executors/guard-executors.ts'
import { createRetryBudget } from '../../src/executors/retry-budget.ts'
import { createAdmission } from '../../src/http/admission.ts'
import type { HttpDeps } from '../../src/http/door.ts'
import { openRefusals } from '../../src/log/refusals.ts'
import { createIds } from '../../src/ids.ts'
import { openAsyncCalls } from '../../src/log/async-calls.ts'
import { openClaims } from '../../src/log/claims.ts'
import { openLeases } from '../../src/log/leases.ts'
import { openQuotas, type OpenQuotas } from '../../src/log/quotas/open-quotas.ts'
import { openResults } from '../../src/log/results.ts'
import { openCounts, type OpenCounts } from '../../src/log/counts/open-counts.ts'
import { openCallLog } from '../../src/log/open-call-log.ts'
import { openShownLog } from '../../src/log/shown-log.ts'
import { openUnknowns } from '../../src/log/unknowns.ts'
import { openTail } from '../../src/log/tail/open-tail.ts'
import { createPlaces } from '../../src/places.ts'
import type { Execution, ExecutorResult } from '../../src/ports.ts'
import { openApplicationLog } from '../../src/start/application-log.ts'
import { openDatabase } from '../../src/store/connect.ts'
import { createKeyUses } from '../../src/store/keys.ts'
import { keepHead } from '../../src/store/kept-head.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createHeartbeat } from '../../src/store/heartbeat.ts'
import { createSnapshotFeed } from '../../src/store/snapshot-feed.ts'
import { watchPools } from '../../src/store/watch-pools.ts'
import { createTestClient, type TestClient } from './test-client.ts'

/** A registry over a database of its own, with doubles for executors and clock alone. */
export type TestRegistry = TestClient & {
  readonly deps: HttpDeps
  readonly adminKey: string
  /** Raw SQL, for what no route can bring about yet. */
  readonly sql: postgres.Sql
  /** Says how the next executions end; every one is kept in `executions`. */
  readonly execute: (how: (execution: Execution) => ExecutorResult | Promise<ExecutorResult>) => void
  readonly executions: Execution[]
  readonly advance: (ms: number) => void
  readonly bugs: unknown[]
  readonly counts: OpenCounts
  readonly quotas: OpenQuotas
  readonly databaseUrl: string
  /** The folder of the spool, and of whatever else this process keeps on disk. */
  readonly folder: string
  readonly close: () => Promise<void>
}

let count = 0

/** Opens a registry for one test file; `through` may lead its line to the database elsewhere, and `onLog` hears the application log. */
export async function openTestRegistry(
  overrides: Partial<HttpDeps> = {},
  through: (url: string) => string = (url) => url,
  spoolMaxBytes = 64 * 1024 * 1024,
  onLog?: (line: string) => void,
): Promise<TestRegistry> {
  const serverUrl = inject('postgresUrl')
  count += 1
  const name = `test_${process.pid}_${Date.now().toString(36)}_${count}`
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`create database ${name} template repertoire_template`)
  const url = databaseUrl(serverUrl, name)
  const database = openDatabase(through(url))
  const stopWatching = watchPools(database)
  const sql = postgres(url, { max: 2, onnotice: () => undefined })

  let offsetMs = 0
  const clock = { now: () => new Date(Date.now() + offsetMs) }
  const ids = createIds(clock)
  const bugs: unknown[] = []
  const folder = await mkdtemp(join(tmpdir(), 'repertoire-spool-'))
  const instance = ids.next()
  const heartbeat = createHeartbeat({ database, replica: 'test', instance, onError: () => undefined, logLagMs: () => 0 })
  const feed = createSnapshotFeed({
    database,
    now: Date.now,
    onError: () => undefined,
  })
  feed.onConfirmed(({ snapshot }) => heartbeat.applied(snapshot.revision))
  await feed.start()
  const installSecret = createHash('sha256').update('test').digest()
  const head = keepHead({ folder, database, onError: (error) => void bugs.push(error) })
  const store = openStore(database, { feed, secret: installSecret, head })
  const keyUses = createKeyUses(database)
  const redaction =
    overrides.redaction ??
    compileRedaction({ rules: [], keys: [] }, (text) => createHmac('sha256', installSecret).update(text).digest('hex'))
  const level = onLog === undefined ? 'silent' : 'trace'
  const logger = openApplicationLog({ level, replica: 'test', redaction }, { write: (line) => onLog?.(line) })
  const calls = await openCallLog({
    database,
    logger,
    folder,
    maxBytes: spoolMaxBytes,
    acknowledge: 'spool',
    instance,
  })
  await calls.begin(feed.current().installId)
  const asyncCalls = openAsyncCalls({ database, calls, instance, logger })
  const counts = openCounts(database, { logger, settle: calls.settleCounts })
  const tail = openTail({ reading: database.reading, logger })
  const quotas = openQuotas({
    log: database.log,
    instance,
    logger,
    now: () => clock.now().getTime(),
    hasQuotas: () => feed.current().quotas.size > 0,
  })
  const refusals = openRefusals({ database, instance, logger, now: () => clock.now().getTime() })
  const shown = openShownLog(database, { ids, replica: 'test', redaction })
  let adminKey = ''
  await makeFirstAdmin({ store, clock, ids }, async (key) => void (adminKey = key))

  const executions: Execution[] = []
  let how: (execution: Execution) => ExecutorResult | Promise<ExecutorResult> = () => ({
    kind: 'result',
    json: Buffer.from('{"done":true}'),
  })
  const double = { execute: async (execution: Execution) => (executions.push(execution), how(execution)) }
  const deps: HttpDeps = {
    settings: {
      replica: 'test',
      allowUnsandboxed: true,
      installSecret,
      staleLimitMs: 900_000,
      agentRate: 1_000_000,
      tagClasses: TagClasses.parse({}),
    },
    snapshot: feed.current,
    unconfirmedMs: () => 0,
    replicas: heartbeat,
    keyUses,
    store,
    calls,
    counts,
    tail,
    tailPlaces: createPlaces({ all: 64, each: 8, what: 'tails' }),
    exportPlaces: createPlaces({ all: 4, each: 2, what: 'exports' }),
    shown,
    clock,
    ids,
    claims: openClaims(() => database.log),
    results: openResults(() => database.log),
    leases: openLeases(() => database.log),
    quotas,
    asyncCalls,
    unknowns: openUnknowns(() => database.log),
    executors: guardExecutors({ http: double, code: double, mcp: double }, { perConnection: 64, perCodeSkill: 64 }),
    retryBudget: createRetryBudget(),
    redaction,
    proveSchemas: async (schemas) => proveSchemas(schemas),
    admission: createAdmission(256),
    health: { degraded: () => [], staleMs: () => undefined, isStopping: () => false },
    onBug: (error, requestId) => {
      bugs.push(error)
      logger.error({ err: error, request_id: requestId }, 'a fault of ours')
    },
    refusals,
    renderMetrics: async () => ({ type: 'text/plain', text: '' }),
    ...overrides,
  }
  return {
    ...createTestClient(createApp(deps), adminKey),
    deps,
    adminKey,
    sql,
    executions,
    bugs,
    counts,
    quotas,
    databaseUrl: url,
    folder,
    execute: (next) => void (how = next),
    advance: (ms) => void (offsetMs += ms),
    close: async () => {
      await asyncCalls.stop(1000)
      await quotas.stop()
      await refusals.stop()
      await counts.stop()
      await tail.stop()
      await calls.close()
      await keyUses.stop()
      await head.stop()
      await rm(folder, { recursive: true, force: true })
      await shown.stop()
      stopWatching()
      await feed.stop()
      await heartbeat.signOff()
      await database.close()
      await sql.end()
      await admin.unsafe(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}
