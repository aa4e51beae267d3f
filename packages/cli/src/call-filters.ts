import { InvalidArgumentError, Option, type Command } from 'commander'
import { moment, span, wholeNumber } from './read-option.ts'

/** The options that say which calls are meant. */
export type CallFilters = {
  readonly skill?: string
  readonly skillVersion?: string
  readonly agent?: string
  readonly outcome?: string
  readonly errorCode?: string
  readonly via?: string
  readonly rollout?: string
  readonly session?: string
  readonly trace?: string
  readonly minDurationMs?: number
  readonly dryRuns?: 'only' | 'none'
  readonly text?: string
}

/** The options that say of which time. */
export type CallWindow = { readonly from?: string; readonly to?: string; readonly since?: number }

const outcomes = [
  'ok',
  'skill_error',
  'invalid_input',
  'denied',
  'not_resolved',
  'executor_error',
  'output_mismatch',
  'timeout',
  'busy',
  'cancelled',
  'unknown',
  'registry_error',
]

/** Gives a command the filters of the call log. */
export function addFilters(command: Command): Command {
  return command
    .option('--skill <name>', 'only this skill')
    .option('--skill-version <version>', 'only this version')
    .option('--agent <id>', 'only this agent')
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(outcomes))
    .option('--error-code <code>', 'only this error code')
    .addOption(new Option('--via <via>', 'only versions chosen this way').choices(['pinned', 'stable', 'canary', 'allow', 'session']))
    .option('--rollout <id>', 'only calls a rollout decided')
    .option('--session <id>', 'only this session')
    .option('--trace <id>', 'only this trace')
    .option('--min-duration-ms <ms>', 'only calls that took at least so long', wholeNumber(0))
    .addOption(new Option('--dry-runs <which>', 'only dry runs, or none of them').choices(['only', 'none']))
    .option('--text <text>', 'only calls whose input holds this, at least three characters', searched)
}

/** Gives a command the options for a window of time. */
export function addWindow(command: Command): Command {
  return command
    .option('--from <time>', 'from this time on', moment)
    .option('--to <time>', 'before this time', moment)
    .addOption(new Option('--since <span>', 'the last 90s, 15m, 1h or 7d').argParser(span).conflicts(['from', 'to']))
}

/** The filters as the registry takes them. */
export function filtersQuery({
  skillVersion,
  errorCode,
  minDurationMs,
  dryRuns,
  text,
  ...same
}: CallFilters): Record<string, string | number | undefined> {
  const { skill, agent, outcome, via, rollout, session, trace } = same
  return {
    skill,
    agent,
    outcome,
    via,
    rollout,
    session,
    trace,
    version: skillVersion,
    error_code: errorCode,
    min_duration_ms: minDurationMs,
    dry_run: dryRuns === undefined ? undefined : String(dryRuns === 'only'),
    q: text,
  }
}

/** The window as the registry takes it; a span ends now. */
export function windowQuery({ from, to, since }: CallWindow, nowMs: number): Record<string, string | undefined> {
  return { from: since === undefined ? from : new Date(nowMs - since).toISOString(), to }
}

function searched(text: string): string {
  if (text.length < 3) throw new InvalidArgumentError('It has at least three characters.')
  return text
}
