import { limits, type Finding } from '@repertoire/contract'
import { canonicalJson, digestOf } from '../json/canonical.ts'

/** The files of a skill by path, verbatim. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>

/** What an import adds where the front matter says nothing; stored beside the bytes and shown. */
export type BundleDefaults = { readonly version?: string | undefined; readonly permission?: readonly string[] | undefined }

/** A skill as it arrives for publication. */
export type Bundle = {
  readonly files: BundleFiles
  readonly defaults: BundleDefaults
  readonly folder: string | undefined
  readonly folderMismatch: 'error' | 'warning'
}

/** The digest of a bundle: of its paths, its bytes and what was added to them. */
export function bundleDigest(files: BundleFiles, used: BundleDefaults): string {
  const parts = [...files].map(([path, bytes]) => [path, digestOf(bytes)] as const).sort(([a], [b]) => (a < b ? -1 : 1))
  return digestOf(canonicalJson({ files: parts, defaults: used }))
}

/** What is wrong with the paths and sizes of a bundle. */
export function checkPaths(files: BundleFiles): Finding[] {
  const findings: Finding[] = []
  const refuse = (file: string, message: string, fix: string): number => findings.push({ level: 'error', file, line: null, message, fix })
  if (files.size > limits.files) refuse('.', `the skill has ${files.size} files`, `keep it to ${limits.files}`)
  const seen = new Map<string, string>()
  let total = 0
  for (const [path, bytes] of files) {
    total += bytes.byteLength
    const problem = pathProblem(path)
    if (problem !== undefined) refuse(printable(path), problem, 'use plain relative paths such as references/guide.md')
    const folded = path.normalize('NFC').toLowerCase()
    const twin = seen.get(folded)
    if (twin !== undefined) refuse(printable(path), `it differs from ${printable(twin)} only by case or accents`, 'rename one of the two')
    seen.set(folded, path)
  }
  if (total > limits.skillBytes) refuse('.', `the skill has ${total} bytes`, `keep it to ${limits.skillBytes} bytes`)
  return findings
}

function pathProblem(path: string): string | undefined {
  if (path === '' || Buffer.byteLength(path) > limits.pathBytes) return `the path is empty or longer than ${limits.pathBytes} bytes`
  if (!path.isWellFormed()) return 'the path is not well-formed Unicode'
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return 'the path contains a backslash or a control character'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'the path is absolute'
  if (path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'the path has an empty, . or .. segment'
  return undefined
}

function printable(path: string): string {
  return JSON.stringify(path).slice(1, -1).slice(0, 120)
}
