import { Manifest, PermissionTag, type Finding } from '@repertoire/contract'
import { nameKey } from '../names.ts'
import { readVersion } from '../version.ts'
import type { BundleDefaults } from './bundle.ts'
import type { Located } from './front-matter.ts'

/** The manifest, the keys nobody knows, and which defaults were needed; no manifest where the findings say why. */
export type ManifestReading = {
  readonly manifest: Manifest | undefined
  readonly extra: Record<string, unknown>
  readonly usedDefaults: BundleDefaults
  readonly exampleLines: readonly number[]
  readonly findings: readonly Finding[]
}

const file = 'SKILL.md'
const knownKeys = new Set(Object.keys(Manifest.shape))
const booleans = new Set(['private', 'core', 'retryable'])
const integers = new Set(['timeout_ms', 'concurrency', 'max_result_bytes'])
const textKeys = new Set([
  'name',
  'description',
  'version',
  'when_to_use',
  'when_not_to_use',
  'input',
  'output',
  'summary',
  'author',
  'domain',
  'cost',
  'license',
  'compatibility',
  'effects',
  'probe',
  'approval',
])

/** Reads the manifest out of the front matter; every problem at once, each with its line and fix. */
export function readManifest(root: Located, defaults: BundleDefaults): ManifestReading {
  const findings: Finding[] = []
  const raw = root.value as Record<string, unknown>
  const value: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(raw)) {
    if (knownKeys.has(key)) value[key] = textKeys.has(key) ? entry : coerce(key, entry)
    else {
      extra[key] = entry
      findings.push({
        level: 'warning',
        file,
        line: lineOf(root, [key]),
        message: `the key ${key} is not one this registry knows; it is kept under extra`,
        fix: null,
      })
    }
  }
  const usedDefaults = fillIn(value, defaults, { root, findings })
  const parsed = Manifest.safeParse(value)
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.map(String)
    if (findings.some((finding) => finding.level === 'error' && path[0] !== undefined && finding.message.startsWith(`${path[0]} `)))
      continue
    findings.push({
      level: 'error',
      file,
      line: lineOf(root, path),
      message: `${path.join('.') || 'the front matter'} ${sayIssue(issue.message, value[path[0] ?? ''] === undefined)}`,
      fix: fixFor(path[0] ?? '', value[path[0] ?? '']),
    })
  }
  if (parsed.success) findings.push(...checkProbe(root, parsed.data))
  return {
    manifest: parsed.success && findings.every((finding) => finding.level !== 'error') ? parsed.data : undefined,
    extra,
    usedDefaults,
    findings,
    exampleLines: (Array.isArray(raw['examples']) ? raw['examples'] : []).map((_, index) => lineOf(root, ['examples', String(index)])),
  }
}

function fillIn(
  value: Record<string, unknown>,
  defaults: BundleDefaults,
  { root, findings }: { readonly root: Located; readonly findings: Finding[] },
): BundleDefaults {
  const metadata = value['metadata']
  const nested = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>)['version'] : undefined
  const used: { version?: string; permission?: readonly string[] } = {}
  const path = value['version'] === undefined && nested !== undefined ? ['metadata', 'version'] : ['version']
  const written = value['version'] ?? usableOrDefault(nested, defaults, { root, findings })
  if (written === undefined && defaults.version !== undefined) used.version = defaults.version
  value['version'] = written ?? defaults.version
  if (value['permission'] === undefined && defaults.permission !== undefined) {
    used.permission = defaults.permission
    value['permission'] = [...defaults.permission]
  }
  if (typeof value['version'] === 'string') {
    const verdict = readVersion(value['version'])
    if (!verdict.ok) findings.push({ level: 'error', file, line: lineOf(root, path), message: verdict.message, fix: verdict.fix })
    if (verdict.ok) value['version'] = verdict.version.version
  }
  return used
}

// Elsewhere `metadata.version` is free text such as "1.0". Whoever imports cannot edit it, and has said what to take instead.
function usableOrDefault(
  nested: unknown,
  defaults: BundleDefaults,
  { root, findings }: { readonly root: Located; readonly findings: Finding[] },
): unknown {
  if (typeof nested !== 'string' || defaults.version === undefined || readVersion(nested).ok) return nested
  findings.push({
    level: 'warning',
    file,
    line: lineOf(root, ['metadata', 'version']),
    message: `metadata.version ${JSON.stringify(nested.slice(0, 40))} is not semver; the default ${defaults.version} is taken instead`,
    fix: null,
  })
  return undefined
}

// Scalars arrive as text; these keys mean something else than text.
function coerce(key: string, entry: unknown): unknown {
  if (typeof entry === 'string') {
    if (booleans.has(key) && (entry === 'true' || entry === 'false')) return entry === 'true'
    if (integers.has(key) && /^\d{1,15}$/.test(entry)) return Number(entry)
    return entry
  }
  if (key === 'examples' || key === 'metadata') return entry
  if (Array.isArray(entry)) return entry.map((item) => coerce('', item))
  if (typeof entry === 'object' && entry !== null)
    return Object.fromEntries(Object.entries(entry).map(([name, member]) => [name, coerce(name, member)]))
  return entry
}

// Only what happens once is ever asked after, and whoever was lost cannot say what became of it.
function checkProbe(root: Located, { name, effects, probe }: Manifest): Finding[] {
  if (probe === undefined) return []
  const error = (message: string, fix: string): Finding => ({ level: 'error', file, line: lineOf(root, ['probe']), message, fix })
  if (effects !== 'once')
    return [error(`probe is for skills with effects: once, and this one has effects: ${effects}`, 'remove probe, or write effects: once')]
  return nameKey(probe) === nameKey(name)
    ? [error('probe names the skill itself', 'name another skill, with effects: read, that looks whether the effect took place')]
    : []
}

/** The line a path of the front matter stands on, or the nearest line above it. */
function lineOf(root: Located, path: readonly string[]): number {
  let at = root
  for (const step of path) {
    const next = at.children.get(step)
    if (next === undefined) break
    at = next
  }
  return at.line
}

function sayIssue(message: string, isMissing: boolean): string {
  if (isMissing) return 'is missing'
  return `is not right: ${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

function fixFor(key: string, value: unknown): string {
  if (key === 'permission' && value === undefined)
    return 'write permission: [] when the skill needs none, or list its tags (an import takes --default-permission)'
  if (key === 'version' && value === undefined) return 'write version: 1.0.0 (an import takes --default-version)'
  if (key === 'name') return 'write a name such as query-order: lower case, at most 64 characters'
  if (key === 'probe') return 'write the name of a skill with effects: read, such as find-mail'
  if (key === 'description') return 'say in at most 1 024 characters what the skill does and when to use it'
  if (
    Array.isArray(value) === false &&
    (key === 'permission' || key === 'tags' || key === 'unlocks' || key === 'examples' || key === 'errors')
  )
    return `write a list: ${key}: [first, second]`
  if (key === 'permission')
    return `tags look like ${['fs:read', 'network:api.example.com', 'smtp'].filter((tag) => PermissionTag.safeParse(tag).success).join(', ')}`
  if (booleans.has(key)) return `write ${key}: true or ${key}: false`
  if (integers.has(key)) return `write a whole number for ${key}`
  return `correct ${key === '' ? 'the front matter' : key} as the manifest reference says`
}
