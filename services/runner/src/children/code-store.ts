import { CodeBundle } from '@repertoire/contract'
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, normalize, sep } from 'node:path'
import { transform } from 'oxc-transform'

const maxKept = 1000

/** Keeps code by its digest on disk, ready to run. */
export type CodeStore = {
  readonly find: (digest: string) => Promise<string | undefined>
  readonly put: (digest: string, bundle: CodeBundle) => Promise<void>
}

/** Opens the store of code in a folder. */
export function openCodeStore(folder: string): CodeStore {
  const placeOf = (digest: string): string => join(folder, digest.replace('sha256:', ''))
  return {
    find: async (digest) => {
      const place = placeOf(digest)
      const found = await stat(place).then(
        (entry) => entry.isDirectory(),
        () => false,
      )
      if (!found) return undefined
      // What was used last is dropped last.
      await utimes(place, new Date(), new Date()).catch(() => undefined)
      return place
    },
    put: async (digest, bundle) => {
      const place = placeOf(digest)
      const staging = `${place}.${process.pid}.${Math.random().toString(36).slice(2)}`
      await mkdir(staging, { recursive: true, mode: 0o755 })
      for (const [path, base64] of Object.entries(bundle.files)) await writeCode(staging, path, Buffer.from(base64, 'base64'))
      if (bundle.files['package.json'] === undefined) await writeFile(join(staging, 'package.json'), '{"type":"module"}\n')
      await rename(staging, place).catch(() => rm(staging, { recursive: true, force: true }))
      await dropOldest(folder)
    },
  }
}

async function writeCode(root: string, path: string, bytes: Buffer): Promise<void> {
  const target = normalize(join(root, path))
  if (!target.startsWith(root + sep)) throw new Error(`the path ${path} leads out of its folder`)
  await mkdir(dirname(target), { recursive: true })
  if (!path.endsWith('.ts') || path.endsWith('.d.ts')) return writeFile(target, bytes)
  const result = await transform(path, bytes.toString('utf8'), {
    lang: 'ts',
    target: 'es2022',
    typescript: { rewriteImportExtensions: 'rewrite' },
  })
  // A file that does not parse is kept as it is: running it says where it breaks.
  const code =
    result.errors.length > 0 ? `throw new SyntaxError(${JSON.stringify(result.errors[0]?.message ?? 'it does not parse')})\n` : result.code
  return writeFile(target.replace(/\.ts$/, '.js'), code)
}

async function dropOldest(folder: string): Promise<void> {
  const names = await readdir(folder)
  if (names.length <= maxKept) return
  const aged = await Promise.all(
    names.map(async (name) => ({
      name,
      at: await stat(join(folder, name)).then(
        (found) => found.mtimeMs,
        () => 0,
      ),
    })),
  )
  for (const { name } of aged.sort((a, b) => a.at - b.at).slice(0, names.length - maxKept))
    await rm(join(folder, name), { recursive: true, force: true })
}
