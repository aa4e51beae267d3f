import { limits, type Finding, type Manifest } from '@repertoire/contract'
import { canonicalJson, digestOf } from '../json/canonical.ts'
import { nameKey } from '../names.ts'
import type { ExecutorKind } from '../records.ts'
import { checkSchema } from '../schemas/check-schema.ts'
import type { SchemasToProve } from '../schemas/prove-schemas.ts'
import { bundleDigest, checkPaths, type Bundle, type BundleDefaults } from './bundle.ts'
import { readFrontMatter } from './front-matter.ts'
import { readManifest, type ManifestReading } from './read-manifest.ts'
import { checkReferences, checkUnkept, checkWording, lint } from './check-texts.ts'
import { findUnsafeCharacter } from './text-safety.ts'

/** A bundle that passed every check that needs neither a compiler nor what was published before. */
export type CheckedBundle = {
  readonly manifest: Manifest
  readonly extra: Record<string, unknown>
  readonly usedDefaults: BundleDefaults
  readonly instructions: string
  readonly kind: ExecutorKind
  readonly entry: string | null
  readonly inputSchema: string
  readonly outputSchema: string | null
  readonly digest: string
  readonly schemaDigest: string
}

/** Findings about a bundle, what is left for a compiler to prove, and the bundle read, where no finding is an error. */
export type BundleCheck = {
  readonly findings: readonly Finding[]
  readonly toProve: SchemasToProve | undefined
  readonly checked: CheckedBundle | undefined
  readonly name: string | undefined
}

const noArguments = JSON.stringify({ type: 'object', properties: {}, additionalProperties: false })
const entries = ['skill.ts', 'skill.js', 'skill.py']

/** Checks a skill's files as the registry does before it publishes them: everything at once, nothing half-done. */
export function checkBundle(bundle: Bundle): BundleCheck {
  const findings: Finding[] = [...checkPaths(bundle.files), ...checkReferences(bundle.files)]
  const bytes = bundle.files.get('SKILL.md')
  if (bytes === undefined)
    return {
      findings: [
        ...findings,
        error(['SKILL.md', null], 'there is no SKILL.md', 'put a SKILL.md with name: and description: at the top of the folder'),
      ],
      toProve: undefined,
      checked: undefined,
      name: undefined,
    }
  const text = decode(bytes, findings)
  if (text === undefined) return { findings, toProve: undefined, checked: undefined, name: undefined }
  const front = readFrontMatter(text)
  findings.push(...front.problems.map((problem) => error(['SKILL.md', problem.line], problem.message, problem.fix)))
  const reading = front.problems.length > 0 ? undefined : readManifest(front.root, bundle.defaults)
  findings.push(...(reading?.findings ?? []))
  const rawName = (front.root.value as Record<string, unknown>)['name']
  const name = typeof rawName === 'string' ? rawName : undefined
  if (name !== undefined) findings.push(...checkFolder(bundle, name, reading?.manifest?.version))
  const input = readSchemaFile(bundle, ['input.schema.json', 'schema.json'], findings)
  const output = readSchemaFile(bundle, ['output.schema.json'], findings)
  const manifest = reading?.manifest
  const toProve = schemasToProve(input, output, reading)
  if (reading === undefined || manifest === undefined) return { findings, toProve, checked: undefined, name }
  findings.push(...checkWording(manifest), ...checkUnkept(manifest))
  const executor = readExecutor(bundle, manifest, findings)
  if (executor.kind !== 'playbook' && input === undefined && !findings.some((finding) => finding.file.endsWith('schema.json'))) {
    findings.push(
      error(
        ['input.schema.json', null],
        'a skill that is carried out needs an input schema',
        'add input.schema.json; {"type":"object","properties":{},"additionalProperties":false} takes no arguments',
      ),
    )
  }
  if (executor.kind === 'playbook' && manifest.probe !== undefined)
    findings.push(error(['SKILL.md', null], 'a playbook carries nothing out, so there is nothing to probe', 'remove probe'))
  if (executor.kind !== 'playbook') findings.push(...lint(manifest, output !== undefined))
  findings.push(...checkPathArguments(manifest, input?.text))
  if (findings.some((finding) => finding.level === 'error')) return { findings, toProve, checked: undefined, name }
  const inputSchema = input?.text ?? noArguments
  const outputSchema = output?.text ?? null
  return {
    findings,
    toProve,
    name,
    checked: {
      manifest,
      extra: reading.extra,
      usedDefaults: reading.usedDefaults,
      instructions: front.body,
      ...executor,
      inputSchema,
      outputSchema,
      digest: bundleDigest(bundle.files, reading.usedDefaults),
      schemaDigest: digestOf(
        canonicalJson({ input: JSON.parse(inputSchema), output: outputSchema === null ? null : JSON.parse(outputSchema) }),
      ),
    },
  }
}

type SchemaFile = { readonly file: string; readonly text: string }

function schemasToProve(
  input: SchemaFile | undefined,
  output: SchemaFile | undefined,
  reading: ManifestReading | undefined,
): SchemasToProve {
  const examples = (reading?.manifest?.examples ?? []).map((example, index) => ({
    params: example.params,
    result: example.result,
    line: reading?.exampleLines[index] ?? null,
  }))
  return { input: input ?? { file: 'input.schema.json', text: noArguments }, output: output ?? null, examples }
}

function decode(bytes: Uint8Array, findings: Finding[]): string | undefined {
  if (bytes.byteLength > limits.skillMdBytes) {
    findings.push(error(['SKILL.md', null], `SKILL.md is larger than ${limits.skillMdBytes} bytes`, 'move long text into references/'))
    return undefined
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    findings.push(error(['SKILL.md', null], 'SKILL.md is not UTF-8', 'save it as UTF-8'))
    return undefined
  }
  const unsafe = findUnsafeCharacter(text)
  if (unsafe !== undefined)
    findings.push(error(['SKILL.md', unsafe.line], `it contains ${unsafe.codePoint}, ${unsafe.what}`, 'remove the character'))
  return text
}

function checkFolder(bundle: Bundle, name: string, version: string | undefined): Finding[] {
  if (bundle.folder === undefined) return []
  const [folderName = '', folderVersion] = bundle.folder.split('@')
  const findings: Finding[] = []
  if (nameKey(folderName) !== nameKey(name)) {
    findings.push({
      level: bundle.folderMismatch,
      file: 'SKILL.md',
      line: 2,
      message: `the folder is called ${folderName}, the skill ${name}`,
      fix: 'give both the same name',
    })
  }
  if (folderVersion !== undefined && version !== undefined && folderVersion !== version) {
    findings.push(
      error(['SKILL.md', 2], `the folder says version ${folderVersion}, the front matter ${version}`, 'give both the same version'),
    )
  }
  return findings
}

// A place in the path that no argument is sure to fill would refuse every call, and a published version cannot be mended.
function checkPathArguments(manifest: Manifest, inputSchema: string | undefined): Finding[] {
  if (manifest.executor?.kind !== 'http' || inputSchema === undefined) return []
  const { required } = JSON.parse(inputSchema) as { required?: unknown }
  const places = [...manifest.executor.path.matchAll(/\{([A-Za-z0-9_]+)\}/g)].map((match) => match[1] ?? '')
  return places
    .filter((name) => !Array.isArray(required) || !required.includes(name))
    .map((name) =>
      error(
        ['input.schema.json', null],
        `the executor's path names {${name}}, which is not a required property`,
        `add ${name} to properties and to required, or take it out of the path`,
      ),
    )
}

function readSchemaFile(bundle: Bundle, names: readonly string[], findings: Finding[]): SchemaFile | undefined {
  const file = names.find((name) => bundle.files.has(name))
  const bytes = file === undefined ? undefined : bundle.files.get(file)
  if (file === undefined || bytes === undefined) return undefined
  const { schema, findings: found } = checkSchema(file, bytes)
  findings.push(...found)
  return schema === undefined ? undefined : { file, text: new TextDecoder().decode(bytes) }
}

function readExecutor(
  bundle: Bundle,
  manifest: Manifest,
  findings: Finding[],
): { readonly kind: ExecutorKind; readonly entry: string | null } {
  const present = entries.filter((entry) => bundle.files.has(entry))
  if (present.length > 1) findings.push(error([present[1] ?? '', null], `there are both ${present.join(' and ')}`, 'keep one of them'))
  const entry = present[0] ?? null
  if (manifest.executor === undefined) return { kind: entry === null ? 'playbook' : 'code', entry }
  if (entry !== null && manifest.executor.kind !== 'code')
    findings.push(
      error(['SKILL.md', null], `executor says ${manifest.executor.kind}, but there is ${entry}`, `remove ${entry}, or the executor`),
    )
  if (entry === null && manifest.executor.kind === 'code')
    findings.push(
      error(
        ['SKILL.md', null],
        'executor says code, but there is no skill.ts, skill.js or skill.py',
        'add the file, or remove the executor',
      ),
    )
  return { kind: manifest.executor.kind, entry: manifest.executor.kind === 'code' ? entry : null }
}

function error([file, line]: readonly [file: string, line: number | null], message: string, fix: string): Finding {
  return { level: 'error', file, line, message, fix }
}
