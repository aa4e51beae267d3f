import type { Finding, Manifest } from '@repertoire/contract'
import { isKnownTo, nameKey, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Warns whoever publishes a skill of a probe that could not be asked today; it may still come, so nothing is refused. */
export function checkProbe(deps: Deps, caller: Caller, { probe }: Manifest): Finding[] {
  if (probe === undefined) return []
  const skill = deps.snapshot().skills.get(nameKey(probe))
  // A skill that this caller may not know of is as absent as none.
  const known = skill !== undefined && isKnownTo(skill, caller, deps.clock.now().getTime()) ? skill : undefined
  if (known === undefined || known.stable.size === 0)
    return [warning(`there is no released skill ${probe} yet; until there is, lost calls wait for an operator`, `release ${probe}`)]
  const doing = [...known.stable.values()].filter(({ manifest }) => manifest.effects !== 'read')
  return doing.length === 0
    ? []
    : [
        warning(
          `the probe ${probe} ${doing[0]?.version} has effects: ${doing[0]?.manifest.effects}; a probe only reads`,
          'name a skill with effects: read',
        ),
      ]
}

function warning(message: string, fix: string): Finding {
  return { level: 'warning', file: 'SKILL.md', line: null, message, fix }
}
