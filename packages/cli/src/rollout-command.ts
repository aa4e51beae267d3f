import type { RolloutChanged } from '@repertoire/sdk'
import { apiPath } from './api-path.ts'
import { carryOut } from './command-flow.ts'
import type { CommandOptions } from './command-options.ts'
import type { Context } from './context.ts'
import { findRollout } from './find-rollout.ts'
import { sayRolloutChanged } from './say-changed.ts'

/** A command on one rollout: its name in the API, and how it is said. */
export type RolloutCommand = {
  readonly rollout: string
  readonly verb: 'set-percent' | 'pause' | 'resume' | 'cancel' | 'promote' | 'rollback'
  /** What it does, before the name of the skill. */
  readonly what: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly isUrgent?: boolean
  /** Whether a rollout that has ended can be meant by the name of its skill. */
  readonly mayHaveEnded?: boolean
}

/** Finds the rollout that is meant and carries a command on it out. */
export async function commandRollout(context: Context, command: RolloutCommand, options: CommandOptions): Promise<void> {
  const { verb, what, body = {}, isUrgent = false, mayHaveEnded = false } = command
  const { id, skill, version } = await findRollout(context.registry(), command.rollout, mayHaveEnded)
  const change = {
    what: `${what} ${skill} ${version}`,
    path: apiPath`/v1/rollouts/${id}/${verb}`,
    body,
    about: apiPath`/v1/rollouts/${id}`,
    isUrgent,
    say: sayRolloutChanged,
  }
  await carryOut<RolloutChanged>(context, change, options)
}
