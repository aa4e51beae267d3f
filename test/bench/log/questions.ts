import { planCounts, type CountsAsked } from '@repertoire/core'
import type postgres from 'postgres'
import { countCells } from '../../../services/registry/src/log/counts/count-calls.ts'
import { countPlaces } from '../../../services/registry/src/log/counts/count-places.ts'
import { countMissedSearches, countUnused } from '../../../services/registry/src/log/counts/count-shown.ts'
import { countArms, countVersions } from '../../../services/registry/src/log/counts/count-units.ts'
import { getCall } from '../../../services/registry/src/log/find-calls.ts'
import { findPage } from '../../../services/registry/src/log/search/find-page.ts'
import { readAfter } from '../../../services/registry/src/log/tail/read-after.ts'
import type { CallQuery } from '../../../services/registry/src/stored.ts'

/** A question that the API asks: its name, how many days of rows it may read, and how it is asked. */
export type Question = { readonly name: string; readonly days: number; readonly ask: (sql: postgres.Sql) => Promise<unknown> }

const dayMs = 86_400_000

/** Every question a dashboard asks, about a log whose last row is of now. */
export function questionsAt(nowMs: number): Question[] {
  const window = (ms: number): { from: Date; to: Date } => ({ from: new Date(nowMs - ms), to: new Date(nowMs + 1000) })
  const list = (name: string, query: Partial<CallQuery>, ms = dayMs): Question => ({
    name,
    days: Math.ceil(ms / dayMs) + 1,
    ask: (sql) => findPage(sql, { ...window(ms), limit: 51, beyond: undefined, ...query } as CallQuery),
  })
  const count = (
    name: string,
    { countsOnly = false, ...asked }: Partial<CountsAsked> & { countsOnly?: boolean },
    ms: number,
  ): Question => ({
    name,
    days: 2,
    ask: (sql) => {
      const whole = { interval: 'none', groupBy: [], filters: {}, ...asked, window: window(ms) } as CountsAsked
      return countCells(sql, { ...whole, ...planCounts(whole), countsOnly, limit: 1001 })
    },
  })
  const week = window(7 * dayMs)
  const hour = dayMs / 24
  return [
    list('list: the last day', {}),
    list('list: a week of one skill', { skill: 'skill-9' }, 7 * dayMs),
    list('list: a week of one agent', { agent: 'agent-100' }, 7 * dayMs),
    list('list: an agent and a skill', { agent: 'agent-1', skill: 'skill-50' }, 7 * dayMs),
    list('list: an error code', { error_code: 'TIMEOUT' }, 7 * dayMs),
    list('list: an outcome and a version', { outcome: 'executor_error', version: '1.1.0' }, 7 * dayMs),
    list('list: a session', { session: 'session-4711' }, 7 * dayMs),
    list('list: a trace', { trace: 'f899139df5e1059396431415e770c6dd' }, 7 * dayMs),
    list('list: a rollout', { rollout: 'rollout-0' }, 7 * dayMs),
    list('list: slow calls', { min_duration_ms: 1500 }, 7 * dayMs),
    list('list: a text that is there, today', { q: 'refund' }, dayMs / 4),
    list('list: a text that is rare, of the week', { q: '99777' }, 7 * dayMs),
    {
      name: 'one call',
      days: 2,
      ask: async (sql) => {
        const [{ id = '' } = {}] = await sql`select call_id as id from calls where call_id >= repertoire_first_id(${new Date(nowMs - hour)})
            and call_id < repertoire_first_id(${new Date(nowMs)}) order by call_id limit 1`
        return getCall(sql, id)
      },
    },
    count('stats: the last hour by minute', { interval: 'minute' }, hour),
    count('stats: the last hour by skill and outcome', { groupBy: ['skill', 'outcome'] }, hour),
    count('stats: a day by hour', { interval: 'hour' }, dayMs),
    count('stats: a day by skill', { groupBy: ['skill'] }, dayMs),
    count('stats: a day by agent', { groupBy: ['agent'] }, dayMs),
    count('stats: a day of one skill by minute', { interval: 'minute', filters: { skill: 'skill-50' } }, dayMs),
    count('stats: a week by hour', { interval: 'hour' }, 7 * dayMs),
    count('stats: a week by day and outcome', { interval: 'day', groupBy: ['outcome'] }, 7 * dayMs),
    count('stats: a week by skill and version', { groupBy: ['skill', 'version'] }, 7 * dayMs),
    count('stats: a week by agent', { groupBy: ['agent'] }, 7 * dayMs),
    count('stats: a week of one agent by skill', { groupBy: ['skill'], filters: { agent: 'agent-1' } }, 7 * dayMs),
    count('stats: a week of one skill by agent', { groupBy: ['agent'], filters: { skill: 'skill-9' } }, 7 * dayMs),
    count('stats: a week of one skill by hour', { interval: 'hour', filters: { skill: 'skill-9' } }, 7 * dayMs),
    count('errors: the most frequent of a week', { groupBy: ['error_code', 'outcome', 'skill'], countsOnly: true }, 7 * dayMs),
    count('denials of a week', { groupBy: ['agent', 'skill'], filters: { outcome: 'denied' }, countsOnly: true }, 7 * dayMs),
    {
      name: 'violations of a week',
      days: 0,
      ask: (sql) => countPlaces(sql, { window: week, limit: 51, skill: undefined, version: undefined }),
    },
    { name: 'compare: a rollout', days: 0, ask: (sql) => countArms(sql, 'rollout-0') },
    {
      name: 'compare: two versions',
      days: 0,
      ask: (sql) => countVersions(sql, { skill: 'skill-9', a: '1.0.0', b: '1.1.0', window: week }),
    },
    { name: 'unused skills of a week', days: 0, ask: (sql) => countUnused(sql, { window: week, limit: 51 }) },
    { name: 'searches without a match', days: 0, ask: (sql) => countMissedSearches(sql, { window: week, limit: 51 }) },
    {
      name: 'tail: the next rows',
      days: 20,
      ask: async (sql) => {
        const [{ seq = 0 } = {}] = await sql`select max(seq)::float8 - 20 as seq from calls`
        return readAfter(sql, { after: seq, limit: 500 })
      },
    },
    list('export: a page', { isOldestFirst: true, limit: 200 }, 7 * dayMs),
  ]
}
