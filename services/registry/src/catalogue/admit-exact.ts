import { admit, parseExact, Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'

/** Admits to one exact version: what an instance declared does not bind who names a version, and a range names none. */
export function admitExact(deps: Deps, visit: Visit, { name, version }: { readonly name: string; readonly version: string }): Admission {
  const snapshot = deps.snapshot()
  const asking = askingOf({ ...visit, standing: [] }, deps.clock.now().getTime())
  if (parseExact(version) !== undefined) return admit(snapshot, name, { ...asking, range: version })
  // Whoever may not know of the skill is told nothing about its versions either.
  admit(snapshot, name, asking)
  throw new Refusal('VERSION_NOT_FOUND', `${JSON.stringify(version.slice(0, 64))} is not one exact version.`, {
    hint: 'name one such as 1.2.3, or ask for a range with ?range=',
  })
}
