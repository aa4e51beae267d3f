import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../app.ts'
import type { Config } from '../config.ts'
import { createCodeExecutor } from '../executors/code-executor.ts'
import { guardExecutors } from '../executors/guard-executors.ts'
import { createHttpExecutor } from '../executors/http-executor.ts'
import { keepFiles } from '../executors/kept-files.ts'
import { mcpExecutor } from '../executors/mcp-executor.ts'
import { createRetryBudget } from '../executors/retry-budget.ts'
import { createAdmission } from '../http/admission.ts'
import type { HttpDeps } from '../http/door.ts'
import { serve } from '../http/serve.ts'
import { createIds } from '../ids.ts'
import { openAsyncCalls } from '../log/async-calls.ts'
import { openClaims } from '../log/claims.ts'
import { forgetKept } from '../log/forget-kept.ts'
import { openCounts } from '../log/counts/open-counts.ts'
import { openCallLog } from '../log/open-call-log.ts'
import { openLeases } from '../log/leases.ts'
import { watchMissing } from '../log/missing-replicas.ts'
import { openQuotas } from '../log/quotas/open-quotas.ts'
import { openRefusals } from '../log/refusals.ts'
import { openResults } from '../log/results.ts'
import { keepPartitions } from '../log/partitions/keep-partitions.ts'
import { openShownLog } from '../log/shown-log.ts'
import { openTail } from '../log/tail/open-tail.ts'
import { openUnknowns } from '../log/unknowns.ts'
import { createMetrics } from '../metrics.ts'
import { createPlaces } from '../places.ts'
import type { Clock, Deps } from '../ports.ts'
import { startEmbeddedPostgres } from '../postgres/embedded.ts'
import { openDatabase } from '../store/connect.ts'
import { hearHeads } from '../store/audit-heads.ts'
import { createKeyUses } from '../store/keys.ts'
import { keepHead } from '../store/kept-head.ts'
import { openStore } from '../store/open-store.ts'
import { watchPools } from '../store/watch-pools.ts'
import { openApplicationLog } from './application-log.ts'
import { startAutomation } from './automation.ts'
import { writeBanner } from './banner.ts'
import { readInstallSecret, takeDataDirectory } from './data-directory.ts'
import { ignoreDriverFaults } from './driver-faults.ts'
import { explainStart } from './explain-start.ts'
import { openCatalogue } from './open-catalogue.ts'
import { createProver } from './prove-in-worker.ts'
import { startProbing } from './probing.ts'
import { readTokenVerifier } from './read-oidc.ts'
import { readTagClasses } from './read-tag-classes.ts'
import { readRedaction } from './read-redaction.ts'
import { startRunner } from './start-runner.ts'
import { createUndo, type Undo } from './undo.ts'
import { upOrAway } from './up-or-away.ts'

/** A running registry. */
export type RunningRegistry = { readonly banner: string; readonly port: number; readonly stop: () => Promise<void> }

const staleAfterMs = 5000
const tolerableSkewMs = 1000

/** A start that was told to stop before it was done. */
export class StartStopped extends Error {}

/** Brings everything up in order; when a step fails, or `stopRequested` says so, what was started before it is taken down again. */
export async function startRegistry(config: Config, stopRequested: () => boolean): Promise<RunningRegistry> {
  const undo = createUndo()
  try {
    return await start(config, undo, () => {
      if (stopRequested()) throw new StartStopped('stopped while starting')
    })
  } catch (error) {
    await undo.unwind()
    throw explainStart(error, config)
  }
}

async function start(config: Config, undo: Undo, checkpoint: () => void): Promise<RunningRegistry> {
  // The database's clock is everybody's: a machine whose own is wrong takes no step early.
  let aheadMs = (): number => 0
  let logLagMs = (): number => 0
  const clock: Clock = { now: () => new Date(Date.now() - aheadMs()) }
  const verifyToken = await readTokenVerifier(config.oidcFile, clock.now)
  const tagClasses = await readTagClasses(config.tagClassesFile)
  const directory = await takeDataDirectory(config.dataDir)
  undo.add('data directory', directory.release)
  const installSecret = await readInstallSecret(config.secretFile)
  const redaction = await readRedaction(config.redactFile, installSecret)
  const { logLevel: level, replica } = config
  const logger = openApplicationLog({ level, replica, redaction }, pino.destination({ dest: 2, sync: true }))
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, onTrouble: (what, error) => logger.warn({ err: error }, what) })
      : undefined
  if (embedded !== undefined) undo.add('postgres', embedded.stop, 5000)
  checkpoint()
  const url = config.databaseUrl ?? embedded?.url ?? ''
  const runnerStarting = startRunner(config, { logger, redaction })
  undo.add('runner', () =>
    runnerStarting.then(
      (runner) => runner.stop(),
      () => undefined,
    ),
  )
  runnerStarting.catch(() => undefined)

  const driverFaults = ignoreDriverFaults(logger)
  undo.add('guard against faults of the driver', async () => driverFaults.stop())
  const database = openDatabase(url)
  undo.add('database', database.close)
  const stopWatching = watchPools(database, {
    lastFaultAt: driverFaults.lastAt,
    onReset: (pool) => logger.warn({ pool }, 'the link to the database was dead; new connections take its place'),
  })
  undo.add('watch over the pools', async () => stopWatching())
  const ids = createIds(clock)
  const instance = ids.next()
  const prover = createProver()
  undo.add('prover', prover.stop)
  const catalogue = await openCatalogue(config, { database, instance, logger, logLagMs: () => logLagMs() })
  undo.add('catalogue', catalogue.stop)
  const { feed, heartbeat, saved } = catalogue
  const head = keepHead({
    folder: config.dataDir,
    database,
    onError: (error) => logger.warn({ err: error }, 'the end of the audit log could not be kept'),
  })
  undo.add('audit head', head.stop)
  aheadMs = () => (Math.abs(feed.skewMs()) > tolerableSkewMs ? feed.skewMs() : 0)
  const store = openStore(database, { feed, secret: installSecret, head })
  const keyUses = createKeyUses(database)
  undo.add('key uses', keyUses.stop)
  const calls = await openCallLog({
    database,
    logger,
    folder: join(config.dataDir, 'spool'),
    maxBytes: config.spoolMaxBytes,
    acknowledge: config.acknowledge,
    instance,
  })
  logLagMs = calls.lagMs
  const counts = openCounts(database, { logger, settle: calls.settleCounts })
  undo.add('counts', counts.stop)
  const tail = openTail({ reading: database.reading, logger })
  undo.add('tail', tail.stop)
  const shown = openShownLog(database, { ids, replica, redaction })
  const kept = keepFiles(join(config.dataDir, 'bundles'), store.filesOf)
  feed.onConfirmed(({ snapshot }) => kept.prepare(snapshot))
  const runner = await runnerStarting
  const http = createHttpExecutor(config.environment)
  const code = createCodeExecutor(runner.socketPath, kept.of)
  undo.add('executors', () => Promise.all([http.close(), code.close()]))
  const asyncCalls = openAsyncCalls({ database, calls, instance, logger })
  undo.add('log', () => Promise.all([calls.close(), shown.stop()]), 2500)
  const quotas = openQuotas({
    log: database.log,
    instance,
    logger,
    now: () => clock.now().getTime(),
    hasQuotas: () => feed.current().quotas.size > 0,
  })
  undo.add('quotas', quotas.stop, 1500)
  const refusals = openRefusals({ database, instance, logger, now: () => clock.now().getTime() })
  undo.add('refusals', refusals.stop, 1000)
  const deps: Deps = {
    settings: {
      replica: config.replica,
      allowUnsandboxed: config.allowUnsandboxed,
      installSecret,
      staleLimitMs: config.staleLimitMs,
      agentRate: config.agentRate,
      tagClasses,
    },
    snapshot: feed.current,
    unconfirmedMs: feed.ageMs,
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
    refusals,
    asyncCalls,
    unknowns: openUnknowns(() => database.log),
    executors: guardExecutors(
      { http, code, mcp: mcpExecutor },
      // One code skill has half the places of the runner at most, so that it never takes them all.
      { perConnection: config.connectionConcurrency, perCodeSkill: Math.max(1, Math.floor(config.runnerProcesses / 2)) },
    ),
    retryBudget: createRetryBudget(),
    redaction,
    proveSchemas: prover.prove,
  }
  checkpoint()
  const boot = await upOrAway(
    { config, url, deps, database, calls, feed, logger, checkpoint, ...(saved === undefined ? {} : { connectDeadlineMs: 3000 }) },
    saved,
  )
  undo.add('attempts to reach the database', async () => boot.giveUp())
  undo.add(
    'audit heads of others',
    hearHeads(database, { secret: installSecret, kept: head }, (error) =>
      logger.warn({ err: error }, 'the ends of the audit log that others tell are not heard'),
    ),
  )
  const partitions = keepPartitions(database, { logger, retention: config.retention })
  undo.add('partitions', partitions.stop, 1000)
  const missing = watchMissing(database.log, logger)
  undo.add('watch over replicas', missing.stop, 1000)
  const stopForgetting = forgetKept(database, logger)
  undo.add('forgetting', async () => stopForgetting())
  undo.add('automation', startAutomation(deps, logger))
  undo.add('probing', startProbing(deps, logger))

  checkpoint()
  let stopping = false
  const isStale = (): boolean => feed.ageMs() > staleAfterMs
  const httpDeps: HttpDeps = {
    ...deps,
    admission: createAdmission(config.concurrency),
    verifyToken,
    health: {
      degraded: () => [
        ...(isStale() ? ['database_away'] : []),
        ...(aheadMs() === 0 ? [] : ['clock_differs']),
        ...(calls.isDown() ? ['log_down'] : []),
        ...(calls.lagMs() > 5000 ? ['log_lagging'] : []),
        ...(missing.count() > 0 ? ['replica_missing'] : []),
        ...partitions.trouble(),
      ],
      staleMs: () => (isStale() ? feed.ageMs() : undefined),
      isStopping: () => stopping,
    },
    onBug: (error, requestId) => logger.error({ err: error, request_id: requestId }, 'a fault of ours'),
    renderMetrics: createMetrics({
      revision: () => feed.current().revision,
      snapshotAgeMs: feed.ageMs,
      spooledBytes: calls.spooledBytes,
      shownDropped: deps.shown.dropped,
      skills: () => feed.current().skills.size,
      strayRows: partitions.strayRows,
      refusals: refusals.byCode,
      replicasMissing: missing.count,
      quotaRefusals: quotas.refused,
    }),
  }
  const server = await serve(createApp(httpDeps), { host: config.host, port: config.port })
  if (config.allowUnsandboxed)
    logger.warn('REPERTOIRE_ALLOW_UNSANDBOXED=1: code published through the API runs without a sandbox, with the rights of this process')
  return {
    port: server.port,
    banner: writeBanner({
      config,
      port: server.port,
      embedded,
      madeKey: boot.madeKey,
      skills: boot.skills,
    }),
    stop: async () => {
      stopping = true
      await server.close(config.drainMs)
      // What nobody waits for gets what is left of the time; the rest is told as unknown by whoever starts next.
      await asyncCalls.stop(config.drainMs)
      await undo.unwind()
    },
  }
}
