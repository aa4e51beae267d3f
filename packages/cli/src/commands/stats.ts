import type {
  AttemptStats,
  CallStats,
  DenialStats,
  ErrorStats,
  FeedbackStats,
  SearchStats,
  UnusedStats,
  ViolationStats,
} from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { addWindow, windowQuery, type CallWindow } from '../call-filters.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { sayCallStats, sayCounted, type Counted } from '../say-stats.ts'
import { addCompare } from './stats-compare.ts'
import { addRefusals } from './stats-refusals.ts'

type Options = CallWindow & {
  readonly skill?: string
  readonly skillVersion?: string
  readonly agent?: string
  readonly outcome?: string
  readonly by?: string
  readonly interval?: string
  readonly limit?: number
}

/** A list of what was counted: its name, its help, its columns, and whether skills, versions and agents can be named. */
type ListCommand<T> = {
  readonly name: string
  readonly description: string
  readonly head: readonly string[]
  readonly row: (item: T) => readonly (string | number | null)[]
  readonly filters: readonly ('skill' | 'agent')[]
}

/** Adds `repertoire stats`. */
export function addStats(program: Command): void {
  const stats = program
    .command('stats')
    .summary('calls counted: rates, percentiles, errors, denials, comparisons')
    .description('Counts calls of a window: the last 24 hours unless told. An agent counts its own calls, a publisher those of its skills.')
  addCallStats(stats)
  addCompare(stats)
  addList<ErrorStats['items'][number]>(stats, {
    name: 'errors',
    description: 'Lists the most frequent errors.',
    head: ['ERROR', 'OUTCOME', 'SKILL', 'CALLS'],
    row: (item) => [item.error_code, item.outcome, item.skill, item.calls],
    filters: ['skill', 'agent'],
  })
  addList<DenialStats['items'][number]>(stats, {
    name: 'denials',
    description: 'Lists who was denied what.',
    head: ['AGENT', 'SKILL', 'CALLS'],
    row: (item) => [item.agent, item.skill, item.calls],
    filters: ['skill', 'agent'],
  })
  addList<ViolationStats['items'][number]>(stats, {
    name: 'violations',
    description: 'Lists which arguments models get wrong, and which answers miss their schema, by version.',
    head: ['SKILL', 'VERSION', 'SIDE', 'RULE', 'CALLS', 'PATH'],
    row: (item) => [item.skill, item.version, item.side, item.rule, item.calls, item.path],
    filters: ['skill'],
  })
  addList<AttemptStats['items'][number]>(stats, {
    name: 'attempts',
    description: 'Lists how often calls were tried again, and how often that helped.',
    head: ['SKILL', 'VERSION', 'CALLS', 'ATTEMPTS', 'RETRIED', 'RECOVERED'],
    row: (item) => [item.skill, item.version, item.calls, item.attempts, item.retried, item.recovered],
    filters: ['skill', 'agent'],
  })
  addList<UnusedStats['items'][number]>(stats, {
    name: 'unused',
    description: 'Lists skills that were shown to agents and that nobody called.',
    head: ['SKILL', 'LISTED', 'LOADED', 'AGENTS', 'LAST SHOWN'],
    row: (item) => [item.skill, item.listed, item.loaded, item.agents, item.last_shown_at.slice(0, 10)],
    filters: [],
  })
  addList<SearchStats['items'][number]>(stats, {
    name: 'searches',
    description: 'Lists searches that found nothing.',
    head: ['SEARCHES', 'AGENTS', 'QUERY'],
    row: (item) => [item.searches, item.agents, item.query],
    filters: [],
  })
  addRefusals(stats)
  addList<FeedbackStats['items'][number]>(stats, {
    name: 'feedback',
    description: 'Lists what was said of the calls of each version.',
    head: ['SKILL', 'VERSION', 'CALLS', 'RIGHT SKILL', 'WRONG SKILL', 'TASK DONE', 'NOT DONE'],
    row: (item) => [item.skill, item.version, item.calls, item.right_skill, item.wrong_skill, item.task_done, item.task_not_done],
    filters: ['skill', 'agent'],
  })
}

function addCallStats(stats: Command): void {
  const command = stats
    .command('calls', { isDefault: true })
    .description('Counts calls by what is named, with error rates and percentiles; as a series with --interval.')
  addWindow(command)
    .option('--by <names>', 'up to three of skill, version, agent, arm, outcome and error_code, separated by commas')
    .addOption(new Option('--interval <interval>', 'a series').choices(['minute', 'hour', 'day']))
    .option('--skill <name>', 'only this skill')
    .option('--skill-version <version>', 'only this version')
    .option('--agent <id>', 'only this agent')
    .option('--outcome <outcome>', 'only this outcome')
    .option('--limit <rows>', 'how many rows', wholeNumber(1, 5000), 100)
    .addHelpText(
      'after',
      examples('repertoire stats calls --by skill,version --since 7d', 'repertoire stats calls --interval hour --skill query-order'),
    )
    .action(
      withContext(async ({ print, registry }, _: [], options: Options) => {
        const { by, skillVersion, skill, agent, outcome, interval, limit } = options
        const query = { ...windowQuery(options, Date.now()), skill, agent, outcome, interval, limit, version: skillVersion, group_by: by }
        const { data } = await registry().transport.send<CallStats>('GET', '/v1/stats/calls', { query })
        print.result(data, () => sayCallStats(data, print.width))
        if (data.items.length === 0) print.note('no call in that window')
        if (data.cut) print.note('there are more: narrow it, or raise --limit')
      }),
    )
}

function addList<T>(stats: Command, { name, description, head, row, filters }: ListCommand<T>): void {
  const command = addWindow(stats.command(name).description(description))
  if (filters.includes('skill'))
    command.option('--skill <name>', 'only this skill').option('--skill-version <version>', 'only this version')
  if (filters.includes('agent')) command.option('--agent <id>', 'only this agent')
  command
    .option('--limit <rows>', 'how many rows', wholeNumber(1, 200), 50)
    .addHelpText('after', examples(`repertoire stats ${name} --since 7d`, `repertoire stats ${name} --json`))
    .action(
      withContext(async ({ print, registry }, _: [], options: Options) => {
        const { skillVersion, skill, agent, limit } = options
        const query = { ...windowQuery(options, Date.now()), skill, agent, limit, version: skillVersion }
        const { data } = await registry().transport.send<Counted<T>>('GET', `/v1/stats/${name}`, { query })
        print.result(data, () => sayCounted({ head, rows: data.items.map(row) }, print.width))
        if (data.items.length === 0) print.note('nothing in that window')
        if (data.cut) print.note('there are more: narrow it, or raise --limit')
      }),
    )
}
