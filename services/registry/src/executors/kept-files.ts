import { bundleDigest, type Snapshot, type VersionRecord } from '@repertoire/core'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '../ports.ts'

/** The files of versions, from this disk where they are kept, so that code runs while the database is away. */
export type KeptFiles = {
  readonly of: (version: VersionRecord) => Promise<ReadonlyMap<string, Uint8Array>>
  /** Fetches, one after the other and without hurry, the code that a catalogue may serve next. */
  readonly prepare: (snapshot: Snapshot) => void
}

const mostKept = 1000

/** Keeps the files of versions in a folder by their digest; they never change, so what is there is right or broken. */
export function keepFiles(folder: string, filesOf: Store['filesOf']): KeptFiles {
  const known = new Set<string>()
  let wanted: readonly VersionRecord[] = []
  let preparing: Promise<void> | undefined

  const of = async (version: VersionRecord): Promise<ReadonlyMap<string, Uint8Array>> => {
    const kept = await readKept(folder, version)
    if (kept !== undefined) return kept
    const files = await filesOf(version.id)
    await keep(folder, version.digest, files).catch(() => undefined)
    return files
  }
  const prepareAll = async (): Promise<void> => {
    for (let next = wanted[0]; next !== undefined; next = wanted[0]) {
      wanted = wanted.slice(1)
      // What cannot be had now is asked for when it is called.
      await of(next).then(
        () => void known.add(next.digest),
        () => undefined,
      )
    }
  }
  return {
    of,
    prepare: (snapshot) => {
      wanted = servedCode(snapshot)
        .filter(({ digest }) => !known.has(digest))
        .slice(0, mostKept)
      preparing ??= prepareAll().finally(() => (preparing = undefined))
    },
  }
}

function servedCode(snapshot: Snapshot): VersionRecord[] {
  return snapshot.ordered
    .flatMap((skill) => [...skill.stable.values(), ...skill.rollouts.map((rollout) => skill.byVersion.get(rollout.candidate))])
    .filter((version) => version !== undefined)
    .filter((version) => version.kind === 'code')
}

async function readKept(folder: string, { digest, defaults }: VersionRecord): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  try {
    const text = await readFile(join(folder, nameOf(digest)), 'utf8')
    const files = new Map(
      Object.entries(JSON.parse(text) as Record<string, string>).map(([path, base64]) => [path, Buffer.from(base64, 'base64')]),
    )
    return bundleDigest(files, defaults) === digest ? files : undefined
  } catch {
    return undefined
  }
}

async function keep(folder: string, digest: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const fresh = join(folder, `${nameOf(digest)}.${process.pid}.new`)
  const texts = Object.fromEntries([...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]))
  await writeFile(fresh, JSON.stringify(texts), { mode: 0o600 })
  await rename(fresh, join(folder, nameOf(digest)))
  await prune(folder)
}

// The ones that were written longest ago go first.
async function prune(folder: string): Promise<void> {
  const names = await readdir(folder)
  if (names.length <= mostKept) return
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })))
  dated.sort((a, b) => a.at - b.at)
  for (const { name } of dated.slice(0, names.length - mostKept)) await rm(join(folder, name), { force: true })
}

function nameOf(digest: string): string {
  return digest.replaceAll(/[^\w-]/g, '_')
}
