import type { Affected as ShownAffected, DryRunReport } from '@repertoire/contract'
import {
  absent,
  applyPlan,
  changesAnything,
  countUnits,
  factsOf,
  isActive,
  nameKey,
  previewImpact,
  requireRole,
  type Affected,
  type Caller,
  type RolloutRecord,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Command, Given } from './carry-out.ts'
import { findRequesters } from './requesters.ts'
import { mismatch, readMatch } from './require-match.ts'

/** What a command would do, and the revision of the skill it was judged upon. */
export type ShownPlan = { readonly report: DryRunReport; readonly skillRevision: number; readonly revision: number }

/** Shows what a command would do: the same checks, the same plan, the same resolution, and nothing written. */
export async function showPlan(
  deps: Deps,
  caller: Caller,
  { command, given }: { readonly command: Command; readonly given: Given },
): Promise<ShownPlan> {
  requireRole(caller, 'operator')
  const known = given.ifMatch === undefined ? null : readMatch(given.ifMatch)
  const rollout = command.rolloutId === undefined ? undefined : (await deps.store.rollout(command.rolloutId))?.rollout
  const snapshot = deps.snapshot()
  const skill = snapshot.skills.get(nameKey(command.skill))
  if (skill === undefined) throw absent(command.skill)
  if (known !== null && known !== skill.revision) throw mismatch(skill, { known, since: '', reason: null })
  const at = deps.clock.now()
  const facts = factsOf(skill, (name) => snapshot.connections.has(name))
  const plan = command.plan(facts, { by: caller.id, at: at.toISOString(), reason: given.reason, acceptTags: given.acceptTags }, rollout)
  const after = applyPlan(skill, plan)
  const { all, declared, callsKnown } = await findRequesters(deps, snapshot, skill)
  const nowMs = at.getTime()
  const impact = previewImpact(skill, after, { requesters: all, nowMs })
  // Units are counted where the command sets a share, and of no rollout that it merely holds.
  const exposed = plan.rollouts.find((changed) => changed.id === command.rolloutId && isActive(changed))
  const units = exposed === undefined ? undefined : countUnits(after, exposed, { requesters: declared, nowMs })
  return {
    skillRevision: skill.revision,
    revision: snapshot.revision,
    report: {
      dry_run: true,
      would_change: changesAnything(plan),
      would_move: impact.wouldMove.map(show),
      would_be_denied: impact.wouldBeDenied.map(show),
      unreachable: impact.unreachable.map(show),
      exact_pins_not_moved: impact.exactPinsNotMoved.map(show),
      selected_units: units === undefined ? null : units.selected,
      population: units === undefined ? null : units.population,
      calls_known: callsKnown,
      versions: plan.versions.map(({ version, status }) => ({ version, from: skill.byVersion.get(version)?.status ?? null, to: status })),
      lines: plan.lines.map(({ line, stable }) => ({ line, from: skill.stable.get(line)?.version ?? null, to: stable })),
      rollouts: plan.rollouts.map((changed) =>
        showRolloutChange(changed, rollout?.id === changed.id || skill.rollouts.some(({ id }) => id === changed.id)),
      ),
    },
  }
}

function show({ calls, ...affected }: Affected): ShownAffected {
  return { ...affected, calls_7d: calls }
}

// A rollout that is only thought of has no id that could be asked for.
function showRolloutChange({ id, candidate, state, basisPoints }: RolloutRecord, exists: boolean): DryRunReport['rollouts'][number] {
  return { id: exists ? id : null, version: candidate, state, percent: basisPoints / 100 }
}
