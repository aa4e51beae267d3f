import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { indexClosedDays } from '../../../services/registry/src/log/partitions/index-texts.ts'
import { dropOldDays } from '../../../services/registry/src/log/partitions/drop-old.ts'
import { startEmbeddedPostgres } from '../../../services/registry/src/postgres/embedded.ts'
import { migrate } from '../../../services/registry/src/store/migrate.ts'
import { median } from '../measure.ts'
import { capturing, faultsOf } from './capture.ts'
import { measureIngest } from './ingest.ts'
import { bytesPerRow, foldAll, loadRows } from './load.ts'
import { questionsAt } from './questions.ts'
import { serverCpuMs } from './server-cpu.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    folder: { type: 'string', default: tmpdir() },
    rounds: { type: 'string', default: '15' },
  },
})
const rows = Number(values.rows)
const days = 7
const gigabyte = 2 ** 30
const promisedMs = 100

/** Loads a log, asks it everything a dashboard asks, and measures what brings rows in and takes them away. */
async function bench(): Promise<boolean> {
  const needed = rows * bytesPerRow
  const { bavail, bsize } = await statfs(values.folder)
  console.log(
    `${rows} rows need some ${(needed / gigabyte).toFixed(1)} GiB in ${values.folder}; ${((bavail * bsize) / gigabyte).toFixed(1)} GiB are free`,
  )
  if (bavail * bsize < needed * 1.2) throw new Error('there is not enough room: give --rows or --folder')
  const folder = await mkdtemp(join(values.folder, 'repertoire-bench-log-'))
  await chmod(folder, 0o755)
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const sql = postgres(server.url, { max: 2, onnotice: () => undefined })
  try {
    await migrate(server.url, async () => undefined)
    await load(sql)
    const isQuick = await timeQuestions(server.url)
    await measureWriting(server.url)
    return isQuick
  } finally {
    await sql.end()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function load(sql: postgres.Sql): Promise<void> {
  const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const started = performance.now()
    await work()
    const seconds = (performance.now() - started) / 1000
    console.log(
      `${what.padEnd(44)} ${seconds.toFixed(1).padStart(8)} s ${Math.round(rows / seconds)
        .toLocaleString('en')
        .padStart(10)} rows/s`,
    )
  }
  await timed('loaded, indexes built', () => loadRows(sql, { rows, days }, (day) => process.stderr.write(`day ${day} of ${days}\r`)))
  await timed('counted', () => foldAll(sql))
  await timed('closed days made searchable', () => indexClosedDays(sql))
  await sql.unsafe('vacuum analyze calls, call_payloads')
  const sizes = await sql`select relname, pg_total_relation_size(oid) as bytes, reltuples::float8 as rows from pg_class
    where relname in ('call_hours', 'call_days', 'agent_hours', 'agent_days', 'agent_skill_days') order by 1`
  for (const size of sizes)
    console.log(
      `${String(size['relname']).padEnd(44)} ${(Number(size['bytes']) / 2 ** 20).toFixed(1).padStart(8)} MiB ${Number(size['rows']).toLocaleString('en').padStart(9)} rows`,
    )
  const [whole] = await sql`select pg_database_size(current_database()) as bytes`
  console.log(`${'the whole database'.padEnd(44)} ${(Number(whole?.['bytes']) / gigabyte).toFixed(2).padStart(8)} GiB`)
}

/** Asks each question warm, prints the middle of its times, and looks at every plan. */
async function timeQuestions(url: string): Promise<boolean> {
  const { sql, sent, close } = capturing(url)
  const faults: string[] = []
  let isQuick = true
  console.log(`\n${'question'.padEnd(44)} ${'median ms'.padStart(10)} ${'slowest'.padStart(9)} ${'server CPU'.padStart(11)}`)
  for (const { name, days: allowed, ask } of questionsAt(Date.now())) {
    sent.length = 0
    await ask(sql)
    const asked = [...sent]
    await ask(sql)
    const times: number[] = []
    const before = await serverCpuMs(sql, 'bench-questions')
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const started = performance.now()
      await ask(sql)
      times.push(performance.now() - started)
    }
    const cpuMs = ((await serverCpuMs(sql, 'bench-questions')) - before) / times.length
    for (const one of asked) for (const { fault } of await faultsOf(sql, one, allowed)) faults.push(`${name}: ${fault}`)
    const middle = median(times)
    isQuick &&= middle < promisedMs
    console.log(
      `${name.padEnd(44)} ${middle.toFixed(1).padStart(10)} ${Math.max(...times)
        .toFixed(1)
        .padStart(9)} ${cpuMs.toFixed(1).padStart(11)}${middle < promisedMs ? '' : '   too slow'}`,
    )
  }
  await close()
  console.log(
    faults.length === 0
      ? 'every plan leaves out the days beside its window, and reads no day of rows from end to end'
      : `plans:\n${faults.join('\n')}`,
  )
  return isQuick && faults.length === 0
}

async function measureWriting(url: string): Promise<void> {
  console.log('')
  for (let round = 0; round < 3; round += 1) {
    const { rows: written, drainMs, foldMs, nodeCpuMs, serverCpuMs: server } = await measureIngest(url, 60_000)
    console.log(
      `drained ${Math.round((written / drainMs) * 1000).toLocaleString('en')} rows/s (CPU a row: ${((nodeCpuMs * 1000) / written).toFixed(0)} µs here, ${((server * 1000) / written).toFixed(0)} µs in the server), counted ${Math.round((written / foldMs) * 1000).toLocaleString('en')} rows/s`,
    )
  }
  let isOver = false
  let writtenMeanwhile = 0
  const writing = (async () => {
    while (!isOver) writtenMeanwhile += (await measureIngest(url, 2000)).rows
  })()
  const upkeep = postgres(url, { max: 1, onnotice: () => undefined, connection: { lock_timeout: 200 } })
  for (let kept = days - 2; kept > days - 5; kept -= 1) {
    const started = performance.now()
    const dropped = await dropOldDays(upkeep, { payloadDays: kept, callDays: kept })
    console.log(`dropped ${dropped.join(' and ')} in ${Math.round(performance.now() - started)} ms while rows were written`)
  }
  isOver = true
  await writing
  await upkeep.end()
  console.log(`${writtenMeanwhile} rows were written meanwhile`)
}

if (!(await bench())) process.exitCode = 1
