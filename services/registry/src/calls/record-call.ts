import type { ErrorEffect } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import type { Deps } from '../ports.ts'
import type { Completion, IntentKind, NewCallRow } from '../stored.ts'
import type { CallEnd } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { redactCall } from './redact-call.ts'

/** Writes the call's one row and answers once it is durable. */
export async function recordCall(deps: Deps, call: CallInProgress, end: CallEnd & { readonly completes?: Completion }): Promise<void> {
  const { completes } = end
  const entry = {
    row: rowOf(deps, call, end),
    ...(call.hasIntent() ? { closesIntent: true } : {}),
    ...(completes === undefined ? {} : { completes }),
  }
  await deps.calls.append(entry).catch((error: unknown) => {
    throw error instanceof Refusal
      ? new Refusal(error.code, error.message, { effect: end.effect, headers: error.headers, hint: hintFor(end.effect) })
      : error
  })
}

const underWay: CallEnd = { outcome: 'unknown', error: null, output: null, effect: 'possible' }

/** Tells the log of a call before it runs, as durably as of its end: what may have its effect has its row. */
export async function intendCall(deps: Deps, call: CallInProgress, kind: IntentKind): Promise<void> {
  await deps.calls.intend(rowOf(deps, call, underWay), kind)
  call.intended()
}

/** The row of a call, as far as it is known. */
export function rowOf(deps: Deps, call: CallInProgress, end: CallEnd): NewCallRow {
  const row = call.row(end)
  const kept = redactCall(deps.redaction, { call, row, end })
  // Keyed, and of what really came, so that equal inputs can be found without their digest giving short ones away.
  const digest = row.input === null ? null : createHmac('sha256', deps.settings.installSecret).update(row.input).digest('hex')
  // Filled in where it stands: a row has forty columns, and every copy costs as much as all that is decided about it.
  return Object.assign(row, kept, {
    // Cut after the redaction: half a secret is one that nobody knows by sight.
    skill: kept.skill.slice(0, 64),
    requested_range: kept.requested_range?.slice(0, 1024) ?? null,
    error_code: kept.error_code?.slice(0, 64) ?? null,
    error_message: kept.error_message?.slice(0, 1024) ?? null,
    violations: kept.violations.slice(0, 20).map(({ path, rule }) => ({ path: path.slice(0, 256), rule: rule.slice(0, 64) })),
    input_sha256: digest,
  })
}

function hintFor(effect: ErrorEffect): string {
  return effect === 'none' ? 'nothing was done; try again' : 'the skill may have had its effect; look before you call again'
}
