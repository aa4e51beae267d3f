import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { z } from 'zod'
import { HostError } from './host-error.ts'
import type { Opens } from './opens.ts'

const maxReadBytes = 16 * 1024 * 1024
const maxEntries = 5000

/** What files a skill may ask for: a mount, and a path inside it. */
export type FileHost = { readonly mounts: ReadonlyMap<string, string>; readonly opens: Opens }

const Place = z.object({ mount: z.string(), path: z.string().max(4096) })
const Read = Place.extend({
  offset: z.number().int().min(0).default(0),
  max_bytes: z.number().int().min(1).max(maxReadBytes).default(maxReadBytes),
})
const Write = Place.extend({ base64: z.string() })

/** The mounts that are open to a skill, by name. */
export function listMounts({ mounts, opens }: FileHost): { name: string; readable: boolean; writable: boolean }[] {
  return [...mounts.keys()]
    .map((name) => ({ name, readable: opens.reads(name), writable: opens.writes(name) }))
    .filter((mount) => mount.readable || mount.writable)
}

/** Reads bytes of a file inside a mount. */
export async function readMounted(host: FileHost, args: unknown): Promise<{ base64: string; bytes: number; total: number }> {
  const { mount, path, offset, max_bytes } = Read.parse(args)
  const file = await inside(host, { mount, path, writing: false })
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(explain(path))
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new HostError('NOT_A_FILE', `${path} is not a file.`)
    const buffer = Buffer.alloc(Math.max(0, Math.min(max_bytes, found.size - offset)))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset).catch(explain(path))
    return { base64: buffer.subarray(0, bytesRead).toString('base64'), bytes: bytesRead, total: found.size }
  } finally {
    await handle.close()
  }
}

/** Writes a whole file inside a mount: readers see the old one or the new one, never half of it. */
export async function writeMounted(host: FileHost, args: unknown): Promise<{ bytes: number; created: boolean }> {
  const { mount, path, base64 } = Write.parse(args)
  const file = await inside(host, { mount, path, writing: true })
  const bytes = Buffer.from(base64, 'base64')
  if (path.endsWith('/')) throw new HostError('NOT_A_FILE', `${path} names a folder.`)
  const existing = await stat(file).catch(() => undefined)
  if (existing?.isDirectory() === true) throw new HostError('NOT_A_FILE', `${path} is a folder.`)
  await mkdir(dirname(file), { recursive: true }).catch(explain(path))
  // The folders were made just now: look again whether they led outside.
  await inside(host, { mount, path, writing: true })
  const staging = join(dirname(file), `.${randomBytes(12).toString('hex')}.tmp`)
  try {
    const handle = await open(staging, 'wx', existing === undefined ? 0o644 : existing.mode & 0o777)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(staging, file)
  } catch (error) {
    await rm(staging, { force: true }).catch(() => undefined)
    explain(path)(error as NodeJS.ErrnoException)
  }
  return { bytes: bytes.length, created: existing === undefined }
}

/** Lists a folder inside a mount, by name; at most 5 000 entries. */
export async function listMounted(
  host: FileHost,
  args: unknown,
): Promise<{ entries: { name: string; kind: string; bytes: number | null; modified: string | null }[]; total: number }> {
  const { mount, path } = Place.parse(args)
  const folder = await inside(host, { mount, path, writing: false })
  const entries = await readdir(folder, { withFileTypes: true }).catch(explain(path))
  const sorted = entries
    .filter((entry) => !entry.name.endsWith('.tmp') || !entry.name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const shown = await Promise.all(
    sorted.slice(0, maxEntries).map(async (entry) => {
      const found = entry.isFile() ? await stat(join(folder, entry.name)).catch(() => undefined) : undefined
      return {
        name: entry.name,
        kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other',
        bytes: found?.size ?? null,
        modified: found?.mtime.toISOString() ?? null,
      }
    }),
  )
  return { entries: shown, total: sorted.length }
}

/** The real path of a place, refused where a mount is closed to the skill or the path leads out of it. */
async function inside(
  { mounts, opens }: FileHost,
  { mount, path, writing }: { readonly mount: string; readonly path: string; readonly writing: boolean },
): Promise<string> {
  const root = mounts.get(mount)
  const allowed = root !== undefined && (writing ? opens.writes(mount) : opens.reads(mount))
  if (root === undefined || !allowed) {
    const open = [...mounts.keys()].filter((name) => (writing ? opens.writes(name) : opens.reads(name)))
    throw new HostError(
      'MOUNT_NOT_OPEN',
      `The mount ${mount.slice(0, 64)} is not open to this skill; ${open.length === 0 ? 'none is' : `open are: ${open.join(', ')}`}.`,
    )
  }
  // A path is one of the mount; taking /etc/x for etc/x would only hide a mistake.
  if (path.startsWith('/')) throw new HostError('PATH_OUTSIDE', `${path} is absolute; paths are those of the mount ${mount}.`)
  if (path.includes('\0')) throw new HostError('PATH_OUTSIDE', 'The path contains a NUL character.')
  const realRoot = await realpath(root).catch(() => {
    throw new HostError('MOUNT_NOT_OPEN', `The folder of the mount ${mount} is not there.`)
  })
  const wanted = resolve(realRoot, `.${sep}${path}`)
  const real = await realOfNearest(wanted)
  if (real !== realRoot && !real.startsWith(realRoot + sep)) throw new HostError('PATH_OUTSIDE', `${path} leads out of the mount ${mount}.`)
  if (wanted !== realRoot && !wanted.startsWith(realRoot + sep))
    throw new HostError('PATH_OUTSIDE', `${path} leads out of the mount ${mount}.`)
  return real
}

// Of a path that does not exist yet, the nearest folder that does decides where it really lies.
async function realOfNearest(path: string): Promise<string> {
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined)
    if (real !== undefined) return missing.length === 0 ? real : join(real, ...missing)
    if (dirname(at) === at) return path
    missing.unshift(basename(at))
  }
}

function explain(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === 'ENOENT') throw new HostError('FILE_NOT_FOUND', `There is no ${path}.`)
    if (error.code === 'ENOTDIR') throw new HostError('NOT_A_FOLDER', `${path} is not a folder.`)
    if (error.code === 'ENAMETOOLONG') throw new HostError('PATH_INVALID', `The name ${path.slice(0, 60)}… is too long.`)
    if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM')
      throw new HostError('FILE_NOT_ALLOWED', `${path} may not be used.`)
    throw new HostError('FILE_FAILED', `${path} could not be used (${error.code ?? 'unknown'}).`)
  }
}
