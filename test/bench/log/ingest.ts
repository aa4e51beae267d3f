import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIds } from '../../../services/registry/src/ids.ts'
import { foldOnce } from '../../../services/registry/src/log/rollups/fold.ts'
import { createDrain } from '../../../services/registry/src/log/spool/drain.ts'
import { encodeEntry } from '../../../services/registry/src/log/spool/frames.ts'
import { openSpool } from '../../../services/registry/src/log/spool/open-spool.ts'
import { writeEntries } from '../../../services/registry/src/log/write-entries.ts'
import { openDatabase } from '../../../services/registry/src/store/connect.ts'
import type { NewCallRow } from '../../../services/registry/src/stored.ts'
import { newRow } from '../../../services/registry/test/support/new-row.ts'
import { randomFrom } from '../large-catalogue.ts'
import { serverCpuMs } from './server-cpu.ts'

/** What bringing rows from a spool to Postgres took, and counting them. */
export type Ingested = {
  readonly rows: number
  readonly drainMs: number
  readonly foldMs: number
  readonly nodeCpuMs: number
  readonly serverCpuMs: number
}

const megabyte = 1024 * 1024

/** Spools rows first, then lets the drain of the product bring them to Postgres, as after a time without one. */
export async function measureIngest(url: string, rows: number): Promise<Ingested> {
  const database = openDatabase(url)
  const folder = await mkdtemp(join(tmpdir(), 'repertoire-bench-spool-'))
  const onError = (error: unknown): void => {
    throw error
  }
  const spool = await openSpool({ folder, maxBytes: 2048 * megabyte, onError })
  try {
    const makeRow = rowMaker()
    for (let left = rows; left > 0; left -= 2000)
      await Promise.all(Array.from({ length: Math.min(left, 2000) }, () => spool.append(encodeEntry({ row: makeRow() }))))
    const [{ install_id: installId = '' } = {}] = await database.log.sql`select install_id from installation`
    const drain = createDrain({
      spool,
      write: (entries) => writeEntries(database.log.sql, entries, installId),
      onError,
    })
    const started = performance.now()
    const cpu = process.cpuUsage()
    const before = await serverCpuMs(database.log.sql, 'repertoire-log')
    drain.begin()
    if (!(await drain.settled(10 * 60_000))) throw new Error('the drain was not done in ten minutes')
    const drainMs = performance.now() - started
    const { user, system } = process.cpuUsage(cpu)
    const serverMs = (await serverCpuMs(database.log.sql, 'repertoire-log')) - before
    const folding = performance.now()
    while ((await foldOnce(database.log.sql)) > 0);
    const foldMs = performance.now() - folding
    await drain.stop()
    return { rows, drainMs, foldMs, nodeCpuMs: (user + system) / 1000, serverCpuMs: serverMs }
  } finally {
    await spool.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
}

// One of a dozen skills that an agent works with; some are everybody's.
const skillOf = (agent: number, nth: number): number => (nth * nth + agent * (nth % 7)) % 200

// As calls are: agents and skills with favourites, one in twenty goes wrong, and a payload of some hundred bytes.
export function rowMaker(): () => NewCallRow {
  const ids = createIds({ now: () => new Date() })
  const random = randomFrom(7)
  const skewed = (among: number): number => Math.floor(among * (random(1_000_000) / 1_000_000) ** 2.5)
  let index = 0
  return () => {
    index += 1
    const isBad = random(20) === 0
    const agent = skewed(300)
    return newRow({
      call_id: ids.next(),
      replica: 'bench',
      trace_id: index.toString(16).padStart(32, '0'),
      session: `session-${random(100_000)}`,
      agent_id: `agent-${agent}`,
      key_id: '01980000-0000-7000-8000-000000000000',
      skill: `skill-${skillOf(agent, skewed(12))}`,
      requested_range: '^1',
      version: random(10) === 0 ? '1.1.0' : '1.0.0',
      version_digest: `sha256:${'0'.repeat(64)}`,
      via: 'stable',
      revision: 100,
      executor: 'http',
      attempts: 1,
      outcome: isBad ? 'timeout' : 'ok',
      error_code: isBad ? 'TIMEOUT' : null,
      executor_ms: 10,
      total_ms: Math.exp(3 + random(3000) / 1000),
      input_bytes: 60,
      output_bytes: 120,
      input_sha256: '0'.repeat(64),
      input: Buffer.from(`{"order_id":"${random(100_000)}","note":"deliver it tomorrow"}`),
      output: Buffer.from(`{"order_id":"${index}","amount":12.5,"lines":[1,2,3],"state":"on its way to the customer"}`),
      authz_rule: 'open',
    })
  }
}
