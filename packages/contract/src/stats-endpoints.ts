import type { Endpoint } from './endpoint.ts'
import * as stats from './stats.ts'

/** Routes that count what the call log holds. */
export const statsEndpoints = {
  callStats: {
    method: 'GET',
    path: '/v1/stats/calls',
    access: 'agent',
    summary: 'Calls counted by skill, version, agent, arm, outcome or error, with rates and percentiles; an agent counts its own.',
    query: stats.CallStatsQuery,
    data: stats.CallStats,
  },
  compareVersions: {
    method: 'GET',
    path: '/v1/stats/compare',
    access: 'agent',
    summary: 'Two versions side by side, counted at the unit that was randomised, with confidence intervals.',
    query: stats.CompareQuery,
    data: stats.Comparison,
  },
  errorStats: {
    method: 'GET',
    path: '/v1/stats/errors',
    access: 'agent',
    summary: 'The most frequent errors.',
    query: stats.StatsListQuery,
    data: stats.ErrorStats,
  },
  denialStats: {
    method: 'GET',
    path: '/v1/stats/denials',
    access: 'agent',
    summary: 'Who was denied what.',
    query: stats.StatsListQuery,
    data: stats.DenialStats,
  },
  violationStats: {
    method: 'GET',
    path: '/v1/stats/violations',
    access: 'agent',
    summary: 'Which arguments models get wrong, and which answers miss their schema, by version.',
    query: stats.StatsListQuery.omit({ agent: true }),
    data: stats.ViolationStats,
  },
  attemptStats: {
    method: 'GET',
    path: '/v1/stats/attempts',
    access: 'agent',
    summary: 'How often calls were tried again, and how often that helped.',
    query: stats.StatsListQuery,
    data: stats.AttemptStats,
  },
  feedbackStats: {
    method: 'GET',
    path: '/v1/stats/feedback',
    access: 'agent',
    summary: 'What was said of the calls of each version: the right skill or not, the task done or not.',
    query: stats.StatsListQuery,
    data: stats.FeedbackStats,
  },
  unusedStats: {
    method: 'GET',
    path: '/v1/stats/unused',
    access: 'auditor',
    summary: 'Skills that were shown and never called.',
    query: stats.ShownStatsQuery,
    data: stats.UnusedStats,
  },
  searchStats: {
    method: 'GET',
    path: '/v1/stats/searches',
    access: 'auditor',
    summary: 'Searches that found nothing.',
    query: stats.ShownStatsQuery,
    data: stats.SearchStats,
  },
} as const satisfies Record<string, Endpoint>
