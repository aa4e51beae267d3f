import type { CallRow } from '@repertoire/contract'
import { nameKey, pauseAfterTry, probeFrom, readVerdict, systemCaller, type VersionRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { DueUnknown } from '../stored.ts'
import { askProbe, whyNobodyAsks } from './ask-probe.ts'
import { noteSettlement } from './note-settlement.ts'

/** What came of asking after one lost call; or what kept it from being asked after. */
export type Asked =
  | {
      readonly call: string
      readonly skill: string
      readonly became: 'happened' | 'did not happen' | 'asked again' | 'left'
      readonly note: string
    }
  | { readonly call: string; readonly fault: unknown }

/** At most so many probes run at once on a replica. */
const atOnce = 8
/** Calls without a probe are passed over so many times a round: a crash leaves many of them. */
const mostBatches = 50
/** Longer than everything that is done for one call takes; whoever dies with it leaves it to others then. */
const leaseMs = 60_000

/**
 * Asks the probes of calls of which nobody knows how they ended, and settles those that took place or did not. Each call is
 * one replica's at a time, and is asked after so often at most; the rest is an operator's.
 */
export async function probeUnknown(deps: Deps): Promise<readonly Asked[]> {
  for (let batch = 0; batch < mostBatches; batch += 1) {
    const taken = await deps.unknowns.take(atOnce, leaseMs)
    if (taken.length === 0) return []
    const probed = taken.flatMap((due) => {
      const version = versionOf(deps, due)
      return version?.manifest.probe === undefined ? [] : [{ due, version, probe: version.manifest.probe }]
    })
    const isProbed = new Set(probed.map(({ due }) => due.callId))
    await deps.unknowns.leave(taken.map(({ callId }) => callId).filter((id) => !isProbed.has(id)))
    if (probed.length === 0) continue
    const asked = await Promise.all(
      probed.map((lost) => askAfter(deps, lost).catch((fault: unknown) => ({ call: lost.due.callId, fault }))),
    )
    return asked.filter((one) => one !== undefined)
  }
  return []
}

type Lost = { readonly due: DueUnknown; readonly version: VersionRecord; readonly probe: string }

// What was called then says who is asked: a version is never changed.
function versionOf(deps: Deps, { called }: DueUnknown): VersionRecord | undefined {
  return called === undefined ? undefined : deps.snapshot().skills.get(nameKey(called.skill))?.byVersion.get(called.version)
}

async function askAfter(deps: Deps, lost: Lost): Promise<Asked | undefined> {
  const { due, version, probe } = lost
  const row = await deps.calls.get(due.callId)
  if (row === undefined) return undefined
  const waitMs = probeFrom({ startedMs: Date.parse(row.ts), timeoutMs: version.manifest.timeout_ms }) - deps.clock.now().getTime()
  if (waitMs > 0) {
    await deps.unknowns.putBack(row.call_id, { inMs: waitMs, tries: due.tries - 1, probed: row.probed })
    return undefined
  }
  // A replica that dies each time it asks must not be asked for ever.
  const isOver = due.tries > 1 && pauseAfterTry(due.tries - 1) === undefined
  const why = isOver ? 'the probe was asked as often as it may be' : whyNobodyAsks(deps, row)
  if (why !== undefined) return leave(deps, row, { tries: due.tries - 1, callId: row.probed?.call_id ?? null, note: why })
  const { answer, mayNot } = await askProbe(deps, row, probe)
  const callId = answer.kind === 'written' ? null : (answer.meta.call_id ?? null)
  const happened = answer.kind === 'data' ? readVerdict(answer.json) : null
  if (happened !== null && answer.kind === 'data' && callId !== null) {
    const told = { skill: answer.meta.skill ?? probe, version: answer.meta.version ?? '', call_id: callId }
    const note = `${told.skill} ${told.version} looked, and it ${happened ? 'happened' : 'did not happen'}`
    const isSettled = await noteSettlement(deps, systemCaller, { row, happened, reason: note, probe: told })
    return isSettled ? { call: row.call_id, skill: row.skill, became: happened ? 'happened' : 'did not happen', note } : undefined
  }
  if (mayNot !== undefined) return leave(deps, row, { tries: due.tries, callId, note: mayNot })
  return askAgain(deps, row, {
    tries: due.tries,
    callId,
    note: `${probe} ${sayWhatCame(answer.kind === 'refused' ? answer.refusal.code : answer.kind)}`,
  })
}

type Learnt = { readonly tries: number; readonly callId: string | null; readonly note: string }

async function leave(deps: Deps, row: CallRow, { tries, callId, note }: Learnt): Promise<Asked> {
  await deps.unknowns.putBack(row.call_id, { inMs: null, tries, probed: { tries, call_id: callId, note, next_at: null } })
  return { call: row.call_id, skill: row.skill, became: 'left', note }
}

async function askAgain(deps: Deps, row: CallRow, { tries, callId, note }: Learnt): Promise<Asked> {
  const inMs = pauseAfterTry(tries)
  if (inMs === undefined) return leave(deps, row, { tries, callId, note })
  const nextAt = new Date(deps.clock.now().getTime() + inMs).toISOString()
  await deps.unknowns.putBack(row.call_id, { inMs, tries, probed: { tries, call_id: callId, note, next_at: nextAt } })
  return { call: row.call_id, skill: row.skill, became: 'asked again', note }
}

// What the probe itself says is in its own row, for those who may read that: it may speak of the call's payload.
function sayWhatCame(kind: string): string {
  if (kind === 'data') return 'does not know'
  return kind === 'skill_error' ? 'said no' : `could not be asked: ${kind}`
}
