import type { ResolvedSet } from '@repertoire/contract'
import { admit, Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'

/** What each range resolves to for the caller, all at one revision: a lock. */
export function resolveSkills(
  deps: Deps,
  visit: Visit,
  { requires }: { readonly requires: Readonly<Record<string, string>> },
): ResolvedSet {
  const snapshot = deps.snapshot()
  const nowMs = deps.clock.now().getTime()
  const resolved: ResolvedSet['resolved'] = {}
  for (const [name, range] of Object.entries(requires)) {
    try {
      const admission = admit(snapshot, name, askingOf(visit, nowMs, { range }))
      const { version, via, warnings } = admission.resolved
      resolved[name] = {
        version: version.version,
        via,
        schema_digest: version.schemaDigest,
        warnings: warnings.map((warning) => ({ ...warning })),
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      resolved[name] = { error: { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) } }
    }
  }
  return { revision: snapshot.revision, resolved }
}
