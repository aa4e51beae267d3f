import { applyChanges, emptySnapshot, parseExact, type Changes, type Snapshot, type VersionRecord } from '@repertoire/core'
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from './replace-file.ts'
import type { Confirmed } from './snapshot-feed.ts'

// Another shape of the records is another format: what an older release saved is then not read, and soon replaced.
const format = 3
const chunkBytes = 256 * 1024
// Clocks differ a little; what lies further ahead was noted by a clock that was wrong.
const maxAheadMs = 60_000

type Saved = Omit<Changes, 'versions' | 'skills'> & {
  readonly skills: Changes['skills']
  readonly versions: readonly Omit<VersionRecord, 'semver'>[]
}
type Header = Pick<Snapshot, 'installId' | 'epoch' | 'revision'> & { readonly format: number; readonly confirmedAt: number }

/** Writes a catalogue to a folder: whole or not at all, readable by its owner alone, with a digest of everything before it. */
export async function saveSnapshot(folder: string, { snapshot, confirmedAt }: Confirmed): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const header: Header = { format, installId: snapshot.installId, epoch: snapshot.epoch, revision: snapshot.revision, confirmedAt }
  await replaceFile(folder, 'catalogue', async (write) => {
    const digest = createHash('sha256')
    let chunk = ''
    // Piece by piece, so that a large catalogue does not hold up the requests between.
    for (const part of [header, ...partsOf(snapshot)]) {
      chunk += `${JSON.stringify(part)}\n`
      if (chunk.length < chunkBytes) continue
      digest.update(chunk)
      await write(chunk)
      chunk = ''
    }
    digest.update(chunk)
    await write(`${chunk}${JSON.stringify({ sha256: digest.digest('hex') })}\n`)
  })
}

/** Notes that the database confirmed the catalogue that lies in a folder. */
export async function saveConfirmation(folder: string, { snapshot, confirmedAt }: Confirmed): Promise<void> {
  const { installId, epoch, revision } = snapshot
  await replaceFile(folder, 'confirmed', (write) => write(JSON.stringify({ installId, epoch, revision, confirmedAt })))
}

/**
 * The catalogue that lies in a folder and when it was last confirmed, 0 when nobody can tell; undefined when there is none, or
 * it is not whole.
 */
export async function loadSavedSnapshot(folder: string, nowMs = Date.now()): Promise<Confirmed | undefined> {
  const text = await readFile(join(folder, 'catalogue'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const end = text.lastIndexOf('\n', text.length - 2) + 1
  const trailer = readJson(text.slice(end)) as { readonly sha256?: string } | null | undefined
  if (typeof trailer?.sha256 !== 'string' || createHash('sha256').update(text.slice(0, end)).digest('hex') !== trailer.sha256)
    return undefined
  const [first = '', ...lines] = text.slice(0, end).trimEnd().split('\n')
  const header = readJson(first) as Header | null | undefined
  if (header?.format !== format) return undefined
  const noted = await readConfirmation(folder, header)
  return { snapshot: assemble(header, lines), confirmedAt: Math.max(timeOf(header, nowMs), timeOf(noted, nowMs)) }
}

async function readConfirmation(folder: string, header: Header): Promise<Partial<Header> | undefined> {
  const noted = readJson(await readFile(join(folder, 'confirmed'), 'utf8').catch(() => '')) as Partial<Header> | null | undefined
  const isOfThis = noted?.installId === header.installId && noted.epoch === header.epoch && noted.revision === header.revision
  return isOfThis ? noted : undefined
}

// How long a catalogue may be served is counted from here, so a time that cannot be true counts as never.
function timeOf(said: Partial<Header> | undefined, nowMs: number): number {
  const at: unknown = said?.confirmedAt
  return typeof at === 'number' && at >= 0 && at <= nowMs + maxAheadMs ? at : 0
}

function* partsOf(snapshot: Snapshot): Generator<Partial<Saved>> {
  for (const skill of snapshot.ordered)
    yield {
      skills: [{ id: skill.id, name: skill.name, team: skill.team, position: skill.position, revision: skill.revision }],
      versions: skill.versions.map(({ semver: _semver, ...version }) => version),
      lines: [...skill.stable].map(([line, version]) => ({ skillId: skill.id, line, stable: version.version })),
      rollouts: skill.rollouts,
    }
  for (const { grants, ...agent } of snapshot.agents.values())
    yield { agents: [agent], grants: grants.map((grant) => ({ ...grant, removed: false })) }
  for (const key of snapshot.keys.values()) yield { keys: [key] }
  for (const [agentId, instances] of snapshot.requirements)
    yield {
      requirements: [...instances].flatMap(([instance, ranges]) => [...ranges].map(([key, range]) => ({ agentId, instance, key, range }))),
    }
  for (const connection of snapshot.connections.values()) yield { connections: [{ ...connection, removed: false }] }
  for (const quota of snapshot.quotas.values()) yield { quotas: [{ ...quota, removed: false }] }
}

function assemble(header: Header, lines: readonly string[]): Snapshot {
  const parts = lines.map((line) => JSON.parse(line) as Partial<Saved>)
  return applyChanges(emptySnapshot, {
    installId: header.installId,
    epoch: header.epoch,
    revision: header.revision,
    skills: parts.flatMap((part) => part.skills ?? []),
    versions: parts.flatMap((part) =>
      (part.versions ?? []).flatMap((version) => {
        const semver = parseExact(version.version)
        return semver === undefined ? [] : [{ ...version, semver }]
      }),
    ),
    lines: parts.flatMap((part) => part.lines ?? []),
    rollouts: parts.flatMap((part) => part.rollouts ?? []),
    agents: parts.flatMap((part) => part.agents ?? []),
    keys: parts.flatMap((part) => part.keys ?? []),
    grants: parts.flatMap((part) => part.grants ?? []),
    requirements: parts.flatMap((part) => part.requirements ?? []),
    connections: parts.flatMap((part) => part.connections ?? []),
    quotas: parts.flatMap((part) => part.quotas ?? []),
  })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
