import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Pool } from '../../store/connect.ts'
import { countRows } from './count-rows.ts'

/** Keeps everything that is counted up with the rows. */
export type Folding = {
  /** Says that there are rows to count. */
  readonly wake: () => void
  /** Answers once every row that was there is counted. */
  readonly now: () => Promise<void>
  readonly stop: () => Promise<void>
}

const rowsAtOnce = 5000
const gatherMs = 500
// What so many rows are sorted into stays in memory.
const workMemory = '64MB'
const othersMs = 10_000

/**
 * Counts rows after they were written, in the order of `seq`, which is the order of commits: how far it came is kept in the
 * same transaction, so that every row counts once whatever is killed and however often a batch is written. Counted in
 * thousands, a row costs a fraction of what it costs in each batch of the drain.
 */
export function keepFolded({ reading, logger }: { readonly reading: Pool; readonly logger: Logger }): Folding {
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const foldAll = async (): Promise<void> => {
    if (!(await reading.gate.run(() => isBehind(reading.sql)))) return
    while (!isStopped && (await reading.gate.run(() => foldOnce(reading.sql))) === rowsAtOnce);
  }
  const now = (): Promise<void> => {
    running ??= foldAll().finally(() => (running = undefined))
    return running
  }
  const quietly = (): void => void now().catch((error: unknown) => logger.debug({ err: error }, 'calls could not be counted yet'))
  // What other replicas wrote they count themselves, unless they are gone.
  const others = setInterval(quietly, othersMs)
  others.unref()
  return {
    wake: () => {
      if (timer !== undefined || isStopped) return
      timer = setTimeout(() => {
        timer = undefined
        quietly()
      }, gatherMs)
      timer.unref()
    },
    now: async () => {
      // What was under way may have looked before the last rows came.
      await running?.catch(() => undefined)
      await now()
    },
    stop: async () => {
      isStopped = true
      clearInterval(others)
      clearTimeout(timer)
      await running?.catch(() => undefined)
    },
  }
}

async function isBehind(sql: postgres.Sql): Promise<boolean> {
  const [found] = await sql<{ behind: boolean }[]>`select exists (select 1 from calls where seq > (select seq from rollup_state)) as behind`
  return found?.behind === true
}

/** Counts the next rows, and answers with how many there were; one replica at a time. */
export async function foldOnce(sql: postgres.Sql, atMost: number = rowsAtOnce): Promise<number> {
  return (await sql.begin(async (tx) => {
    const after = await lockFold(tx)
    await tx`select set_config('work_mem', ${workMemory}, true)`
    const { rows, seq } = await countRows(tx, { after, atMost })
    if (seq !== null) await tx`update rollup_state set seq = ${seq}`
    return rows
  })) as number
}

/** Takes the one counter's place until the transaction ends, and says up to which `seq` rows are counted. */
export async function lockFold(tx: postgres.TransactionSql): Promise<string> {
  const [state] = await tx<{ seq: string }[]>`select seq::text from rollup_state for update`
  if (state === undefined) throw new Error('the row of rollup_state is missing')
  return state.seq
}
