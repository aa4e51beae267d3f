import type { RolloutRecord } from '../records.ts'
import { Refusal } from '../refusal.ts'
import type { VersionStatus } from '@repertoire/contract'

/** A command on a rollout. */
export type RolloutCommand = 'set-percent' | 'pause' | 'resume' | 'promote' | 'rollback' | 'cancel'

/** A command on a version. */
export type VersionCommand = 'release' | 'deprecate' | 'yank' | 'unyank' | 'block'

const onVersion: Record<VersionStatus, readonly VersionCommand[]> = {
  candidate: ['release', 'yank', 'block'],
  released: ['deprecate', 'yank', 'block'],
  deprecated: ['yank', 'block'],
  yanked: ['unyank', 'block'],
  blocked: [],
}

/** What may be done with a rollout where it stands. */
export function legalCommands(rollout: Pick<RolloutRecord, 'state' | 'startedAt'>): readonly RolloutCommand[] {
  switch (rollout.state) {
    case 'scheduled':
      return ['set-percent', 'pause', 'rollback', 'cancel']
    case 'running':
      return ['set-percent', 'pause', 'promote', 'rollback', 'cancel']
    case 'paused':
      // What nobody has tried yet cannot be promoted; release is the command for that.
      return rollout.startedAt === null ? ['resume', 'rollback', 'cancel'] : ['resume', 'promote', 'rollback', 'cancel']
    case 'promoted':
      return ['rollback']
    default:
      return []
  }
}

/** Refuses a command that a rollout does not take where it stands, naming those it does. */
export function requireLegal(rollout: RolloutRecord, command: RolloutCommand): void {
  const legal = legalCommands(rollout)
  if (legal.includes(command)) return
  throw new Refusal(
    'ILLEGAL_TRANSITION',
    `The rollout of ${rollout.candidate} is ${rollout.state.replace('_', ' ')}; ${command} is not possible.`,
    {
      hint: legal.length === 0 ? 'it has ended: start a new rollout' : `possible now: ${legal.join(', ')}`,
      details: [{ rule: 'transition', got: command, allowed: legal }],
    },
  )
}

/** Refuses a command that a version does not take in its status, naming those it does. */
export function requireLegalStatus(
  name: string,
  version: { readonly version: string; readonly status: VersionStatus },
  command: VersionCommand,
): void {
  const legal = onVersion[version.status]
  if (legal.includes(command)) return
  const why = version.status === 'blocked' ? 'blocked, which is final' : version.status
  throw new Refusal('ILLEGAL_TRANSITION', `${name} ${version.version} is ${why}; ${command} is not possible.`, {
    hint: legal.length === 0 ? 'publish a new version' : `possible now: ${legal.join(', ')}`,
    details: [{ rule: 'transition', got: command, allowed: legal }],
  })
}
