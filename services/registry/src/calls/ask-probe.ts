import type { CallRow } from '@repertoire/contract'
import { callerOfAgent, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import type { CallAnswer } from './call.ts'
import { callSkill } from './call-skill.ts'
import { isInputWhole } from './is-input-whole.ts'

/** Nobody waits for a probe, and the call that is asked after is somebody's until it is over. */
const timeoutMs = 10_000

/** Why no probe is asked about a call; undefined where one may be. */
export function whyNobodyAsks(deps: Deps, row: CallRow): string | undefined {
  if (row.on_behalf_of !== null) return 'it was called for a user, and what that user may do is not known without the token'
  if (callerOf(deps, row) === undefined) return 'the agent that called it is gone or disabled'
  return isInputWhole(deps, row) ? undefined : 'what it was given is not kept as it was: it was cut, redacted, or is past its days'
}

/** What a probe answered, and why it is not asked again, where it was refused for good. */
export type ProbeAnswer = { readonly answer: CallAnswer; readonly mayNot: string | undefined }

/**
 * Asks a probe about a call, as the agent that made it and with what that may do now. It is a call like any other, one below
 * the lost one: `replay_of` would say that the same was done again.
 */
export async function askProbe(deps: Deps, row: CallRow, probe: string): Promise<ProbeAnswer> {
  const caller = callerOf(deps, row)
  if (caller === undefined) throw new Error(`nobody is there who could ask about ${row.call_id}`)
  const visit: Visit = {
    requestId: deps.ids.next(),
    caller,
    instance: 'probe',
    session: row.session,
    tenant: row.tenant,
    traceparent: null,
    standing: [],
    unconfirmedMs: deps.unconfirmedMs(),
    callerNow: () => callerOf(deps, row),
  }
  const answer = await callSkill(deps, visit, {
    name: probe,
    body: {
      arguments: { call_id: row.call_id, arguments: row.input },
      parent_call_id: row.call_id,
      intent: `asks whether ${row.skill} had its effect in a call nobody knows the end of`,
      dry_run: false,
    },
    problem: undefined,
    idempotencyKey: null,
    timeoutMs,
    isAsync: false,
    replayOf: null,
    onlyReads: true,
    queuedMs: 0,
  })
  const isDenied = answer.kind === 'refused' && answer.refusal.code === 'PERMISSION_DENIED'
  return { answer, mayNot: isDenied ? answer.refusal.message : undefined }
}

function callerOf(deps: Deps, row: CallRow): Caller | undefined {
  const agent = deps.snapshot().agents.get(row.agent_id)
  return agent === undefined || agent.disabled ? undefined : callerOfAgent(agent, null)
}
