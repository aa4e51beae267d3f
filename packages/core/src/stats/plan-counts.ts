import type { StatsDimension, StatsInterval } from '@repertoire/contract'
import { Refusal } from '../refusal.ts'
import { refuseWindow, type Window } from './window.ts'

/** What is counted: rows themselves, or what was counted of them by hour or day: by skill, by agent, by both, or all together. */
export type CountSource =
  | 'rows'
  | 'call_hours'
  | 'call_days'
  | 'agent_hours'
  | 'agent_days'
  | 'agent_skill_days'
  | 'total_hours'
  | 'total_days'

/** What calls are counted for: a window, how finely, what they are told apart by, and which count at all. */
export type CountsAsked = {
  readonly window: Window
  readonly interval: StatsInterval
  readonly groupBy: readonly StatsDimension[]
  readonly filters: Readonly<Partial<Record<StatsDimension, string>>>
}

/** Where such counts come from, and the window they are of: whole hours or days, where those are counted. */
export type CountPlan = { readonly source: CountSource; readonly window: Window }

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// "The last hour" ends a moment after now.
const slackMs = 60_000

/**
 * Where counts come from, so that an answer stays cheap however many calls there are: rows up to an hour of everything and a day
 * of one skill or agent, hours up to two days or as a series of a month, days beyond.
 */
export function planCounts({ window, interval, groupBy, filters }: CountsAsked): CountPlan {
  const ms = window.to.getTime() - window.from.getTime()
  const isShort = ms <= hourMs + slackMs
  const isNarrow = isShort || (ms <= dayMs + slackMs && (filters.skill !== undefined || filters.agent !== undefined))
  const used = new Set<StatsDimension>([
    ...groupBy,
    ...(Object.keys(filters) as StatsDimension[]).filter((name) => filters[name] !== undefined),
  ])
  const byAgent = used.has('agent')
  const bySkill = used.has('skill') || used.has('version') || used.has('arm')
  const byBoth = byAgent && bySkill
  if (isShort || (isNarrow && (interval === 'minute' || (byBoth && (interval === 'hour' || used.has('arm'))))))
    return { source: 'rows', window }
  if (interval === 'minute')
    throw refuseWindow('Minutes are counted of at most an hour of everything, or a day of one skill or agent.', 'ask for interval=hour')
  if (byBoth) {
    if (used.has('arm')) throw refuseTogether('Arms of one agent are counted of at most a day.')
    if (interval === 'hour') throw refuseTogether('Hours of an agent and a skill together are counted of at most a day.')
    return { source: 'agent_skill_days', window: align(window, dayMs) }
  }
  const axis = byAgent ? 'agent' : bySkill ? 'call' : 'total'
  if (interval === 'hour' && ms > 31 * dayMs + slackMs) throw refuseWindow('Hours are counted of at most 31 days.', 'ask for interval=day')
  const isHourly = interval === 'hour' || (interval === 'none' && ms <= 2 * dayMs + slackMs)
  return isHourly ? { source: `${axis}_hours`, window: align(window, hourMs) } : { source: `${axis}_days`, window: align(window, dayMs) }
}

/** What a source is called in an answer. */
export function nameOfSource(source: CountSource): 'rows' | 'hours' | 'days' {
  return source === 'rows' ? 'rows' : source.endsWith('_hours') ? 'hours' : 'days'
}

function align({ from, to }: Window, grainMs: number): Window {
  return {
    from: new Date(Math.floor(from.getTime() / grainMs) * grainMs),
    to: new Date(Math.ceil(to.getTime() / grainMs) * grainMs),
  }
}

function refuseTogether(message: string): Refusal {
  return new Refusal('INVALID_REQUEST', message, {
    hint: 'shorten the window and name the skill or the agent, or ask for interval=day',
    details: [{ path: '/group_by', rule: 'window' }],
  })
}
