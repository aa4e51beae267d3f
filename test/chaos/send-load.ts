import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

/** What came back of a load: how many of each status, how long refusals took, and how many got no answer. */
export type Loaded = {
  readonly statuses: ReadonlyMap<number, number>
  /** The times of the refusals with 503, in milliseconds. */
  readonly refusalsMs: readonly number[]
  readonly unanswered: number
}

/** Where calls are sent, with what, how many a second, and for how many seconds. */
export type LoadOptions = {
  readonly url: string
  readonly path: string
  readonly key: string
  readonly body: string
  readonly perSecond: number
  readonly seconds: number
}

const connections = 256

/** Sends calls evenly over the time, whether or not those before were answered, as many callers do who know nothing of each other. */
export async function sendLoad({ url, path, key, body, perSecond, seconds }: LoadOptions): Promise<Loaded> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const statuses = new Map<number, number>()
  const refusalsMs: number[] = []
  let unanswered = 0
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = async (): Promise<void> => {
    const began = performance.now()
    try {
      const response = await pool.request({ path, method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) })
      await response.body.dump()
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1)
      if (response.statusCode === 503) refusalsMs.push(performance.now() - began)
    } catch {
      unanswered += 1
    }
  }
  const began = performance.now()
  const pending: Promise<void>[] = []
  for (let sent = 0; sent < perSecond * seconds;) {
    const due = Math.min(perSecond * seconds, ((performance.now() - began) / 1000) * perSecond)
    for (; sent < due; sent += 1) pending.push(send())
    await pause(1)
  }
  await Promise.all(pending)
  await pool.close()
  return { statuses, refusalsMs, unanswered }
}
