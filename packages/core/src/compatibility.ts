import type { Finding } from '@repertoire/contract'
import type { SemVer } from 'semver'
import { canonicalJson } from './json/canonical.ts'
import { follow } from './schemas/references.ts'
import { lineOf } from './version.ts'

/** The two schemas of one version. */
export type VersionSchemas = { readonly semver: SemVer; readonly inputSchema: string; readonly outputSchema: string | null }

const annotations = new Set(['title', 'description', 'examples', '$comment', '$id', '$schema'])

/**
 * The two rules that hold from the first day, against every version of the same line: a patch changes no schema, and a
 * declared property path that disappears from input or output needs a major (below 1.0, a minor).
 */
export function checkCompatibility(next: VersionSchemas, published: readonly VersionSchemas[]): Finding[] {
  const sameLine = published.filter((version) => lineOf(version.semver) === lineOf(next.semver) && version.semver.prerelease.length === 0)
  if (next.semver.prerelease.length > 0) return []
  const findings: Finding[] = []
  for (const version of sameLine) {
    const isPatch = next.semver.major > 0 && version.semver.minor === next.semver.minor
    const [older, newer] = version.semver.compare(next.semver) < 0 ? [version, next] : [next, version]
    findings.push(...sides.flatMap((side) => compareSide({ side, older, newer, isPatch, other: version.semver.version })))
  }
  return findings
}

const sides = [
  { name: 'input', file: 'input.schema.json', of: (version: VersionSchemas) => version.inputSchema },
  { name: 'output', file: 'output.schema.json', of: (version: VersionSchemas) => version.outputSchema },
] as const

type Comparison = {
  readonly side: (typeof sides)[number]
  readonly older: VersionSchemas
  readonly newer: VersionSchemas
  readonly isPatch: boolean
  readonly other: string
}

function compareSide({ side, older, newer, isPatch, other }: Comparison): Finding[] {
  const before = parse(side.of(older))
  const after = parse(side.of(newer))
  const gone = before === null ? [] : [...declaredPaths(before)].filter((path) => !declaredPaths(after).has(path))
  const bump = older.semver.major === 0 ? 'minor' : 'major'
  if (gone.length > 0) {
    const added = [...declaredPaths(after)].filter((path) => !declaredPaths(before).has(path))
    const rename = gone.length === 1 && added.length === 1 ? ` (it looks like a rename to ${added[0]})` : ''
    return [
      {
        level: 'error',
        file: side.file,
        line: null,
        message: `the ${side.name} of ${older.semver.version} declares ${gone.slice(0, 5).join(', ')}, and ${newer.semver.version} does not${rename}`,
        fix: `publish it as a ${bump} version, or keep the property`,
      },
    ]
  }
  if (isPatch && canonicalJson(withoutAnnotations(before)) !== canonicalJson(withoutAnnotations(after))) {
    return [
      {
        level: 'error',
        file: side.file,
        line: null,
        message: `the ${side.name} schema differs from that of ${other}, and a patch changes no schema`,
        fix: 'publish it as a minor version',
      },
    ]
  }
  return []
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

/** Every property path a schema declares, `items[].price` style, through local references and combinations. */
export function declaredPaths(schema: unknown): Set<string> {
  const paths = new Set<string>()
  const visit = (node: unknown, prefix: string, open: ReadonlySet<unknown>): void => {
    if (typeof node !== 'object' || node === null || open.has(node) || paths.size > 5000) return
    const inside = new Set(open).add(node)
    const parts = node as Record<string, unknown>
    if (typeof parts['$ref'] === 'string') visit(follow(schema, parts['$ref']), prefix, inside)
    for (const [name, child] of Object.entries((parts['properties'] ?? {}) as object)) {
      const path = prefix === '' ? name : `${prefix}.${name}`
      paths.add(path)
      visit(child, path, inside)
    }
    for (const key of ['items', 'additionalProperties', 'contains'] as const) visit(parts[key], `${prefix}[]`, inside)
    for (const key of ['prefixItems', 'allOf', 'anyOf', 'oneOf'] as const) {
      const branches = parts[key]
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, key === 'prefixItems' ? `${prefix}[]` : prefix, inside)
    }
    for (const key of ['if', 'then', 'else'] as const) visit(parts[key], prefix, inside)
  }
  visit(schema, '', new Set())
  return paths
}

function withoutAnnotations(node: unknown, isNameMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutAnnotations(item))
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(([key]) => isNameMap || !annotations.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      key === 'enum' || key === 'const' || key === 'default'
        ? value
        : withoutAnnotations(value, !isNameMap && (key === 'properties' || key === '$defs' || key === 'definitions')),
    ]),
  )
}
