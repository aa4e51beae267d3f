import type { Repertoire, Rollout, VersionList } from '@repertoire/sdk'
import { apiPath } from './api-path.ts'
import { CommandError } from './command-error.ts'
import { readAllPages } from './pages.ts'
import { sayShare } from './say-rollout.ts'
import { readSkillReference } from './skill-reference.ts'

/** How a rollout is named on the command line, for the help of commands. */
export const rolloutArgument = 'its id, or the skill as name or name@version where one rollout is meant'

/** Whether a text is the id of a rollout, and not the name of a skill. */
export function isRolloutId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/**
 * The rollout a text means: by its id, or the one active rollout of a skill. Where an ended one will do, it is the one that
 * ended last, but rather one that was promoted and is what its line serves: there is something of it to take back.
 */
export async function findRollout(registry: Repertoire, text: string, mayHaveEnded: boolean): Promise<Rollout> {
  if (isRolloutId(text)) return (await registry.transport.send<Rollout>('GET', apiPath`/v1/rollouts/${text}`)).data
  const { name, range: version } = readSkillReference(text)
  const ofVersion = (rollout: Rollout): boolean => version === undefined || rollout.version === version
  const active = (await rolloutsOf(registry, name, 'active')).filter(ofVersion)
  if (active.length > 1) throw severalActive(name, active)
  const found = active[0] ?? (mayHaveEnded ? await endedOf(registry, name, ofVersion) : undefined)
  if (found !== undefined) return found
  await requireSkill(registry, name)
  throw new CommandError({
    exit: 'notFound',
    code: 'NOT_FOUND',
    message: `There is no ${mayHaveEnded ? '' : 'active '}rollout of ${version === undefined ? name : `${name} ${version}`}.`,
    hint: `repertoire canary status --all lists every rollout; repertoire canary start ${name} begins one`,
  })
}

/** Every rollout of a skill, or of all skills, newest first. */
export async function rolloutsOf(registry: Repertoire, skill: string | undefined, state?: 'active'): Promise<readonly Rollout[]> {
  return (await readAllPages<Rollout>(registry, '/v1/rollouts', { skill, state })).items
}

/** Refuses the name of a skill that is not there: a list of rollouts would only be empty. */
export async function requireSkill(registry: Repertoire, name: string): Promise<void> {
  await registry.transport.send('GET', apiPath`/v1/skills/${name}/versions`)
}

async function endedOf(registry: Repertoire, name: string, isMeant: (rollout: Rollout) => boolean): Promise<Rollout | undefined> {
  const ended = (await rolloutsOf(registry, name)).filter(isMeant).sort((a, b) => ((a.ended_at ?? '') < (b.ended_at ?? '') ? 1 : -1))
  const [last] = ended
  const promoted = ended.filter((rollout) => rollout.state === 'promoted')
  // Only one that was cancelled is passed over: the same rollback given again must not take back the promotion before it.
  if (last?.state !== 'cancelled' || promoted.length === 0) return last
  const { items } = await readAllPages<VersionList['items'][number]>(registry, apiPath`/v1/skills/${name}/versions`)
  const served = new Set(items.filter((item) => item.stable).map((item) => item.version))
  return promoted.find((rollout) => served.has(rollout.version)) ?? last
}

function severalActive(name: string, rollouts: readonly Rollout[]): CommandError {
  return new CommandError({
    exit: 'usage',
    code: 'SEVERAL_ROLLOUTS',
    message: `${name} has ${rollouts.length} active rollouts; which one is meant?`,
    hint: `name it by its id, or as ${name}@${rollouts[0]?.version ?? 'VERSION'}`,
    details: rollouts.map((rollout) => ({ message: `${rollout.id}  ${rollout.version}, ${rollout.state} at ${sayShare(rollout)}` })),
  })
}
