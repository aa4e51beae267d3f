import { z } from 'zod'
import * as calls from './calls.ts'
import type { Endpoint } from './endpoint.ts'

const none = z.strictObject({})

/** Routes that call skills and read the log of calls. */
export const callEndpoints = {
  callSkill: {
    method: 'POST',
    path: '/v1/skills/{name}/calls',
    access: 'agent',
    summary: 'Calls a skill.',
    query: none,
    body: calls.CallBody,
    data: z.unknown(),
  },
  listCalls: {
    method: 'GET',
    path: '/v1/calls',
    access: 'agent',
    summary: 'The call log, newest first; an agent sees its own rows.',
    query: calls.ListCallsQuery,
    data: calls.CallList,
  },
  tailCalls: {
    method: 'GET',
    path: '/v1/calls/tail',
    access: 'agent',
    summary: 'The call log as it grows, as server-sent events; Last-Event-ID goes on where a connection ended.',
    query: calls.TailQuery,
  },
  exportCalls: {
    method: 'GET',
    path: '/v1/calls/export',
    access: 'agent',
    summary: 'Calls as NDJSON or CSV, oldest first; the last line says whether the export is whole.',
    query: calls.ExportQuery,
  },
  giveFeedback: {
    method: 'POST',
    path: '/v1/calls/{id}/feedback',
    access: 'agent',
    summary: 'Says of a call whether it was the right skill and the task was done.',
    query: none,
    body: calls.FeedbackBody,
    data: calls.Feedback,
  },
  getCall: {
    method: 'GET',
    path: '/v1/calls/{id}',
    access: 'agent',
    summary: 'One call; `wait` waits for the end of one that is under way.',
    query: calls.GetCallQuery,
    data: calls.CallRow,
  },
  readResult: {
    method: 'GET',
    path: '/v1/calls/{id}/result',
    access: 'agent',
    summary: 'The whole result of an own call that was cut or ran in the background, piece by piece, for a day.',
    query: calls.ResultQuery,
    data: calls.ResultPart,
  },
  cancelCall: {
    method: 'POST',
    path: '/v1/calls/{id}/cancel',
    access: 'agent',
    summary: 'Asks whoever carries out a call in the background to end it.',
    query: none,
    body: calls.CancelBody,
    data: calls.Cancelled,
  },
  settleCall: {
    method: 'POST',
    path: '/v1/calls/{id}/settle',
    access: 'operator',
    summary: 'Says what became of a call whose outcome is unknown.',
    query: none,
    body: calls.SettleBody,
    data: calls.CallRow,
  },
  replayCall: {
    method: 'POST',
    path: '/v1/calls/{id}/replay',
    access: 'agent',
    summary: 'Repeats a recorded call with the rights of whoever asks; a dry run unless told otherwise.',
    query: none,
    body: calls.ReplayBody,
    data: z.unknown(),
  },
} as const satisfies Record<string, Endpoint>
