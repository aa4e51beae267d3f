import { quotasOn, Refusal, type Admission, type Caller } from '@repertoire/core'
import type { Deps, QuotaExceeded } from '../ports.ts'

/** A call that was counted against its quotas, and how it is made uncounted; `undo` does so and throws on. */
export type Spent = { readonly takeBack: () => void; readonly undo: (error: unknown) => never }

/** Counts a call against the quotas it falls under, or refuses it where one of them is used up: nothing is counted then. */
export function spendQuotas(deps: Deps, caller: Caller, { skill, resolved: { version } }: Admission): Spent {
  const executor = version.manifest.executor
  const connection = executor !== undefined && 'connection' in executor ? executor.connection : null
  const quotas = quotasOn(deps.snapshot().quotas, { agentId: caller.id, skillKey: skill.key, connection })
  const nowMs = deps.clock.now().getTime()
  const outcome = quotas.length === 0 ? nothing : deps.quotas.spend(quotas, nowMs)
  if (outcome.kind === 'exceeded') throw refuse(outcome, { skill: skill.name, nowMs })
  return {
    takeBack: outcome.takeBack,
    undo: (error) => {
      outcome.takeBack()
      throw error
    },
  }
}

const nothing = { kind: 'spent', takeBack: () => undefined } as const

function refuse(
  { quota, span, limit, retryAfterMs }: QuotaExceeded,
  { skill, nowMs }: { readonly skill: string; readonly nowMs: number },
): Refusal {
  const whose = quota.agentId === null ? 'All agents together have' : `Agent ${quota.agentId} has`
  const what = quota.connection !== null ? ` over the connection ${quota.connection}` : quota.skillKey === null ? '' : ` of ${skill}`
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  const again = new Date(nowMs + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  return new Refusal('QUOTA_EXCEEDED', `${whose} used the ${limit} calls a ${span}${what}.`, {
    hint: `try again at ${again}; an admin changes quotas: repertoire quotas list`,
    details: [
      { rule: span === 'minute' ? 'per_minute' : 'per_day', expected: `at most ${limit} calls a ${span}`, reason: `quota ${quota.id}` },
    ],
    headers: { 'Retry-After': String(seconds) },
  })
}
