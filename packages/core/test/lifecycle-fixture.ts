import {
  applyPlan,
  factsOf,
  planBlock,
  planCancel,
  planDeprecate,
  planPause,
  planPromote,
  planRelease,
  planResume,
  planRevert,
  planRollback,
  planSetPercent,
  planStart,
  planUnyank,
  planYank,
  Refusal,
  type Order,
  type Plan,
  type RolloutRecord,
  type RolloutRequest,
  type SkillRecord,
} from '@repertoire/core'
import { skillOf, type SkillSketch } from './skill-fixture.ts'

/** The order under which everything here happens, unless a test says when. */
export const order: Order = {
  acceptTags: ['orders:read'],
  by: 'test',
  at: '2026-01-02T00:00:00.000Z',
  reason: 'a test orders it',
}

/** A request for a rollout of 1.3.0 at 10 %, as far as a test does not say otherwise. */
export const request = (said: Partial<RolloutRequest> = {}): RolloutRequest => ({
  id: 'fresh',
  version: '1.3.0',
  basisPoints: 1000,
  unit: 'agent',
  allow: [],
  deny: [],
  steps: [],
  startAt: null,
  salt: 'salt',
  ...said,
})

/** What a skill says to commands, where only some connections exist. */
export const facts = (skill: SkillRecord, connections: readonly string[] = []): ReturnType<typeof factsOf> =>
  factsOf(skill, (name) => connections.includes(name))

/** Line 1 serves 1.2.0; 1.1.0 and 1.0.0 are older, 1.3.0 is a candidate, and so is 2.0.0 in a line that serves nothing. */
export const withVersions = (more: Partial<SkillSketch> = {}): SkillRecord =>
  skillOf({
    versions: [
      { version: '1.0.0' },
      { version: '1.1.0' },
      { version: '1.2.0' },
      { version: '1.3.0', status: 'candidate' },
      { version: '2.0.0', status: 'candidate' },
    ],
    stable: { '1': '1.2.0' },
    ...more,
  })

/** What a command on a rollout plans, by its name. */
export function planOn(command: string, skill: SkillRecord, rollout: RolloutRecord): Plan {
  switch (command) {
    case 'set-percent':
      return planSetPercent(facts(skill), rollout, { basisPoints: 2500, order })
    case 'pause':
      return planPause(rollout, order)
    case 'resume':
      return planResume(facts(skill), rollout, order)
    case 'promote':
      return planPromote(facts(skill), rollout, order)
    case 'rollback':
      return planRollback(facts(skill), rollout, order)
    case 'cancel':
      return planCancel(rollout, order)
    default:
      throw new Error(`there is no command ${command}`)
  }
}

/** What a command on a version plans, such as `yank 1.2.0`. */
export function planFor(text: string, skill: SkillRecord): Plan {
  const [command, version = ''] = text.split(' ')
  switch (command) {
    case 'release':
      return planRelease(facts(skill), version, order)
    case 'deprecate':
      return planDeprecate(facts(skill), { version }, order)
    case 'yank':
      return planYank(facts(skill), { version }, order)
    case 'unyank':
      return planUnyank(facts(skill), version, order)
    case 'block':
      return planBlock(facts(skill), { version }, order)
    case 'revert':
      return planRevert(facts(skill), { line: '1', to: version }, order)
    case 'start':
      return planStart(facts(skill), request({ version }), order)
    default:
      throw new Error(`there is no command ${command}`)
  }
}

/** A skill after some commands on its versions. */
export const after = (skill: SkillRecord, ...commands: readonly string[]): SkillRecord =>
  commands.reduce((at, text) => applyPlan(at, planFor(text, at)), skill)

/** What a command comes to in few words: `versions | lines | rollouts`, or the code of its refusal and the commands it names. */
export function told(planned: () => Plan): string {
  try {
    const { versions, lines, rollouts } = planned()
    const parts = [
      versions.map((change) => `${change.version} ${change.status}`),
      lines.map((change) => `${change.line}→${change.stable ?? 'nothing'}`),
      rollouts.map(({ id, state, pausedReason }) => `${id} ${state}${pausedReason === null ? '' : ` ${pausedReason}`}`),
    ]
    const said = parts.filter((part) => part.length > 0).map((part) => part.join(', '))
    return said.length === 0 ? 'no change' : said.join(' | ')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const allowed = error.details[0]?.allowed
    return [error.code, ...(allowed === undefined ? [] : [`[${allowed.join(' ')}]`])].join(' ')
  }
}
