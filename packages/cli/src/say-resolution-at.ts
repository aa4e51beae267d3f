import type { ResolutionAt } from '@repertoire/sdk'
import { sayTime } from './say-time.ts'
import { layoutPairs } from './table.ts'

/** Says what an agent gets or would have got at a time, why, and what was true of the skill then. */
export function sayResolutionAt(data: ResolutionAt): string {
  const { problem, last_change: change, last_call: call } = data
  return layoutPairs([
    ['agent', data.agent],
    ['skill', data.skill],
    ['at', sayTime(data.at)],
    ['ranges', data.ranges.join(' and ')],
    ['gets', data.version === null ? `nothing (${problem?.code ?? ''})` : `${data.version} (${data.via ?? ''})`],
    ['why not', problem === null ? undefined : `${problem.message}${problem.hint === undefined ? '' : ` → ${problem.hint}`}`],
    ['denied', data.missing_tags.length === 0 ? undefined : `it did not hold ${data.missing_tags.join(', ')}`],
    ['warnings', data.warnings.map(({ message }) => message).join(' ')],
    [
      'lines',
      Object.entries(data.stable)
        .map(([line, version]) => `${line} serves ${version}`)
        .join(', '),
    ],
    ['rollouts', data.rollouts.map(({ version, state, percent }) => `${version} ${state} at ${percent} %`).join(', ')],
    [
      'last change',
      change === null
        ? undefined
        : `${sayTime(change.at)}, ${change.action} by ${change.by}${change.reason === null ? '' : `: ${change.reason}`}`,
    ],
    [
      'last call',
      call === null
        ? undefined
        : `${sayTime(call.ts)}, ${call.version === null ? 'without a version' : `${call.version} (${call.via ?? ''})`}; call ${call.call_id}`,
    ],
  ])
}
