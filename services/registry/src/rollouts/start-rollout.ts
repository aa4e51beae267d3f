import type { DryRunReport, RolloutChanged, StartRolloutBody } from '@repertoire/contract'
import {
  applyPlan,
  countUnits,
  nameKey,
  planStart,
  Refusal,
  requireRole,
  requireUnits,
  type Caller,
  type RolloutRecord,
  type RolloutRequest,
  type SkillRecord,
} from '@repertoire/core'
import { createHmac } from 'node:crypto'
import type { Deps } from '../ports.ts'
import { carryOut, type Command, type Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { readDuration } from './duration.ts'
import { declaredRequesters } from './requesters.ts'
import { showPlan } from './show-plan.ts'
import { showRolloutChanged } from './show-rollout.ts'

/** Which skill, what its rollout is to be, and how the command was given. */
export type StartRolloutInput = { readonly name: string; readonly body: StartRolloutBody; readonly given: Given; readonly dryRun: boolean }

/** Starts a canary: a share of units gets a candidate, at once or from a time to come. */
export async function startRollout(
  deps: Deps,
  caller: Caller,
  { name, body, given, dryRun }: StartRolloutInput,
): Promise<Answer<RolloutChanged | DryRunReport>> {
  requireRole(caller, 'operator')
  const skill = deps.snapshot().skills.get(nameKey(name))
  refuseUnknownAgents(deps, body)
  const request = await requestOf(deps, skill, body)
  const command: Command = {
    action: 'rollout.start',
    subject: `${skill?.name ?? name}@${body.version}`,
    skill: skill?.name ?? name,
    rolloutId: request.id,
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order) => {
      const plan = planStart(facts, request, order)
      const [rollout] = plan.rollouts
      if (rollout !== undefined && !body.force) refuseNobody(deps, facts.name, rollout)
      return plan
    },
  }
  if (dryRun) {
    const { report, ...revisions } = await showPlan(deps, caller, { command, given })
    return { data: report, ...revisions }
  }
  const done = await carryOut(deps, caller, { command, given })
  const [rollout] = done.plan.rollouts
  if (rollout === undefined) throw new Error('a start plans one rollout')
  return {
    data: showRolloutChanged(done, rollout),
    skillRevision: done.revision,
    revision: Math.max(done.revision, deps.snapshot().revision),
  }
}

// Two agents of one name in allow and deny are a mistake, and so is a name nobody has: it would silently do nothing.
function refuseUnknownAgents(deps: Deps, body: StartRolloutBody): void {
  const { agents } = deps.snapshot()
  const unknown = [...body.allow, ...body.deny].find((id) => !agents.has(id))
  if (unknown !== undefined)
    throw new Refusal('NOT_FOUND', `There is no agent ${unknown.slice(0, 64)} to allow or deny.`, {
      hint: 'repertoire agents list shows them',
    })
  const both = body.allow.find((id) => body.deny.includes(id))
  if (both !== undefined)
    throw new Refusal('INVALID_REQUEST', `${both} is in allow and in deny.`, {
      hint: 'name it in one of them; deny wins',
      details: [{ path: '/allow', rule: 'disjoint', got: both }],
    })
}

async function requestOf(deps: Deps, skill: SkillRecord | undefined, body: StartRolloutBody): Promise<RolloutRequest> {
  const steps = body.steps.map(({ percent, dwell }) => ({ basisPoints: Math.round(percent * 100), dwellMs: readDuration(dwell) }))
  return {
    id: deps.ids.next(),
    version: body.version,
    basisPoints: body.percent === undefined ? (steps[0]?.basisPoints ?? 0) : Math.round(body.percent * 100),
    unit: body.unit,
    allow: [...new Set(body.allow)],
    deny: [...new Set(body.deny)],
    steps,
    startAt: body.start_at === undefined ? null : new Date(body.start_at).toISOString(),
    salt: (skill === undefined ? undefined : await deps.store.saltOf(skill.id, body.version)) ?? newSalt(deps, skill, body.version),
  }
}

// Nobody can foresee it without the install secret, and yet a dry run chooses the units that the start will choose.
function newSalt(deps: Deps, skill: SkillRecord | undefined, version: string): string {
  return createHmac('sha256', deps.settings.installSecret)
    .update(`salt\n${skill?.id ?? ''}\n${version}`)
    .digest('base64url')
    .slice(0, 26)
}

function refuseNobody(deps: Deps, name: string, rollout: RolloutRecord): void {
  const snapshot = deps.snapshot()
  const skill = snapshot.skills.get(nameKey(name))
  if (skill === undefined) return
  const after = applyPlan(skill, { versions: [], lines: [], rollouts: [rollout] })
  const selection = countUnits(after, rollout, {
    requesters: declaredRequesters(snapshot, skill.name),
    nowMs: deps.clock.now().getTime(),
  })
  requireUnits(skill, rollout, selection)
}
