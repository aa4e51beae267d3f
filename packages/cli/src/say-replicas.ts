import type { LineChanged } from '@repertoire/sdk'
import { count } from './say-count.ts'

/** From which revision a change holds, and who obeys it when the command waited. */
export type Obeyed = Pick<LineChanged, 'revision' | 'applied' | 'lagging' | 'unreachable'>

/** Says on how many replicas a change holds; nothing where the command did not wait. */
export function sayReplicas({ applied, lagging = [], unreachable = [] }: Obeyed): string {
  if (applied === undefined) return ''
  const all = applied.length + lagging.length + unreachable.length
  if (applied.length < all) return `applied on ${applied.length} of ${count(all, 'replica')}\n`
  return `applied on ${all === 1 ? 'the one replica there is' : all === 2 ? 'both replicas' : `all ${all} replicas`}\n`
}

/** What a person has to know of replicas that may still serve what was. */
export function warnOfReplicas({ lagging = [], unreachable = [] }: Obeyed): string[] {
  return [
    ...warn(lagging, ['lags and serves what was for now', 'lag and serve what was for now'], ''),
    ...warn(
      unreachable,
      ['is unreachable, and may serve what was', 'are unreachable, and may serve what was'],
      '; end what must not go on',
    ),
  ]
}

function warn(replicas: readonly string[], [one, many]: readonly [string, string], advice: string): string[] {
  if (replicas.length === 0) return []
  return [`${count(replicas.length, 'replica')} ${replicas.length === 1 ? one : many}: ${replicas.join(', ')}${advice}`]
}
