import { grains, type Counted } from './cells.ts'

/** How often arguments or answers missed a schema in one place, on one day. */
export type Violations = {
  readonly bucket: Date
  readonly skill: string
  readonly version: string
  readonly outcome: string
  readonly path: string
  readonly rule: string
  calls: number
}

const mostPlaces = 20
const longestPath = 256
const longestRule = 64

/** Where rows missed their schemas, by day; of one row at most twenty places count. Numbers in a path stand for any item. */
export function violationsOf(rows: readonly Counted[]): Violations[] {
  const found = new Map<string, Violations>()
  for (const row of rows) {
    if (row.dry_run) continue
    const start = Math.floor(row.ts.getTime() / grains.day) * grains.day
    const places = new Map(row.violations.slice(0, mostPlaces).map((violation) => [JSON.stringify(placeOf(violation)), placeOf(violation)]))
    for (const [place, { path, rule }] of places) {
      const version = row.version ?? ''
      const key = `${start}\n${row.skill}\n${version}\n${row.outcome}\n${place}`
      const known = found.get(key)
      if (known === undefined)
        found.set(key, { bucket: new Date(start), skill: row.skill, version, outcome: row.outcome, path, rule, calls: 1 })
      else known.calls += 1
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, violations]) => violations)
}

function placeOf({ path, rule }: { readonly path: string; readonly rule: string }): { readonly path: string; readonly rule: string } {
  return { path: path.replaceAll(/\/\d+(?=\/|$)/g, '/*').slice(0, longestPath), rule: rule.slice(0, longestRule) }
}
