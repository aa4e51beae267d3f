import { pino } from 'pino'
import { makeFirstAdmin } from '../access/make-first-admin.ts'
import { createApp } from '../app.ts'
import { seedSkills } from '../catalogue/seed-skills.ts'
import type { Config } from '../config.ts'
import { createCodeExecutor } from '../executors/code-executor.ts'
import { createHttpExecutor } from '../executors/http-executor.ts'
import { mcpExecutor } from '../executors/mcp-executor.ts'
import type { HttpDeps } from '../http/door.ts'
import { serve } from '../http/serve.ts'
import { createIds } from '../ids.ts'
import { keepPartitions } from '../log/keep-partitions.ts'
import { openCallLog } from '../log/open-call-log.ts'
import { openShownLog } from '../log/shown-log.ts'
import { createMetrics } from '../metrics.ts'
import type { Clock } from '../ports.ts'
import { startEmbeddedPostgres } from '../postgres/embedded.ts'
import { openDatabase } from '../store/connect.ts'
import { createGate } from '../store/gate.ts'
import { migrate } from '../store/migrate.ts'
import { openStore } from '../store/open-store.ts'
import { startSnapshotFeed } from '../store/snapshot-feed.ts'
import { writeAdminKey } from './admin-key-file.ts'
import { writeBanner } from './banner.ts'
import { readInstallSecret, takeDataDirectory } from './data-directory.ts'
import { explainStart } from './explain-start.ts'
import { createProver } from './prove-in-worker.ts'
import { sayWhatWasSeeded } from './report-seed.ts'
import { readSkillFolders } from './skill-folders.ts'
import { startRunner } from './start-runner.ts'
import { createUndo, type Undo } from './undo.ts'

/** A running registry. */
export type RunningRegistry = { readonly banner: string; readonly port: number; readonly stop: () => Promise<void> }

const clock: Clock = { now: () => new Date() }
const staleAfterMs = 5000

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
  const logger = pino({ level: config.logLevel, base: { replica: config.replica } }, pino.destination({ dest: 2, sync: true }))
  const directory = await takeDataDirectory(config.dataDir)
  undo.add('data directory', directory.release)
  const installSecret = await readInstallSecret(config.secretFile)
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: config.dataDir, onTrouble: (what, error) => logger.warn({ err: error }, what) })
      : undefined
  if (embedded !== undefined) undo.add('postgres', embedded.stop, 5000)
  checkpoint()
  const url = config.databaseUrl ?? embedded?.url ?? ''
  const runnerStarting = startRunner(config, logger)
  undo.add('runner', () =>
    runnerStarting.then(
      (runner) => runner.stop(),
      () => undefined,
    ),
  )
  runnerStarting.catch(() => undefined)

  const database = openDatabase(url)
  undo.add('database', database.close)
  const gate = createGate(256)
  const ids = createIds(clock)
  const prover = createProver()
  undo.add('prover', prover.stop)
  const boot = await migrate(url, async () => {
    const feed = await startSnapshotFeed({
      database,
      gate,
      now: Date.now,
      onError: (error) => logger.warn({ err: error }, 'the catalogue could not be read again'),
    })
    undo.add('catalogue', feed.stop)
    const store = openStore(database, gate, feed)
    const madeKey = await makeFirstAdmin({ store, clock, ids }, (key) => writeAdminKey(config.adminKeyFile, key))
    const calls = openCallLog(database, gate, logger)
    const shown = openShownLog(database.logSql, { ids, replica: config.replica })
    const runner = await runnerStarting
    const http = createHttpExecutor(config.environment)
    const code = createCodeExecutor(runner.socketPath, store.filesOf)
    undo.add('executors', () => Promise.all([http.close(), code.close()]))
    undo.add('log', () => Promise.all([calls.flush(), shown.stop()]), 2500)
    const deps = {
      settings: { replica: config.replica, allowUnsandboxed: config.allowUnsandboxed, installSecret },
      snapshot: feed.current,
      store,
      calls,
      shown,
      clock,
      ids,
      executors: { http, code, mcp: mcpExecutor },
      proveSchemas: prover.prove,
    }
    checkpoint()
    const seeded = await seedSkills(deps, { folders: await readSkillFolders(config.skillsDir), releaseNew: config.releaseNewAtStart })
    for (const { folder, fault } of seeded)
      if (fault !== undefined) logger.error({ err: fault, folder }, 'a skill folder could not be stored')
    return { feed, deps, madeKey, seeded }
  })
  const stopPartitions = keepPartitions(database.sql, logger)
  undo.add('partitions', async () => stopPartitions())

  checkpoint()
  let stopping = false
  const { feed, deps } = boot
  const isStale = (): boolean => feed.ageMs() > staleAfterMs
  const httpDeps: HttpDeps = {
    ...deps,
    health: {
      degraded: () => [...(isStale() ? ['database_away'] : []), ...(deps.calls.isDown() ? ['log_down'] : [])],
      staleMs: () => (isStale() ? feed.ageMs() : undefined),
      isStopping: () => stopping,
    },
    onBug: (error, requestId) => logger.error({ err: error, request_id: requestId }, 'a fault of ours'),
    renderMetrics: createMetrics({
      revision: () => feed.current().revision,
      snapshotAgeMs: feed.ageMs,
      rowsWaiting: deps.calls.waiting,
      shownDropped: deps.shown.dropped,
      skills: () => feed.current().skills.size,
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
      madeKey: boot.madeKey !== undefined,
      skills: sayWhatWasSeeded(boot.seeded, config.skillsDir),
    }),
    stop: async () => {
      stopping = true
      await server.close(config.drainMs)
      await undo.unwind()
    },
  }
}
