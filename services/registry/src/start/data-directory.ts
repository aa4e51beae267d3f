import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAlive } from '../postgres/postmaster.ts'

/** A data directory that is ours until it is released. */
export type DataDirectory = { readonly release: () => Promise<void> }

/** Takes a data directory for this process; one that another live process holds is refused with a sentence. */
export async function takeDataDirectory(dataDir: string): Promise<DataDirectory> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  const file = join(dataDir, 'registry.lock')
  const mine = `${file}.${process.pid}`
  // The lock appears whole: a link either is made or is not, and nobody ever sees it half-written.
  await writeFile(mine, `${process.pid} ${await startOf(process.pid)}\n`, { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const isMine = await link(mine, file).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error
          return false
        },
      )
      if (isMine) return { release: () => rm(file, { force: true }) }
      const held = await readFile(file, 'utf8').catch(() => '')
      const [pid = '', started = ''] = held.trim().split(' ')
      if (await isHolder(Number(pid), started))
        throw new Error(
          `The data directory ${dataDir} is in use by process ${pid}: stop that one first, or set REPERTOIRE_DATA_DIR to another folder.`,
        )
      await clearStale(file, held)
    }
  } finally {
    await rm(mine, { force: true })
  }
  throw new Error(`The data directory ${dataDir} is being taken by another process; try again.`)
}

// Between the look and the move somebody else may have taken the lock: what was moved is looked at again, and given back.
async function clearStale(file: string, stale: string): Promise<void> {
  const aside = `${file}.stale.${process.pid}`
  const moved = await rename(file, aside).then(
    () => true,
    () => false,
  )
  if (!moved) return
  if ((await readFile(aside, 'utf8').catch(() => '')) !== stale) await link(aside, file).catch(() => undefined)
  await rm(aside, { force: true })
}

// The start time tells a holder from a stranger that was given its number.
async function isHolder(pid: number, started: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return false
  return (await startOf(pid)) === started
}

async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return '-'
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '-'
}

const minSecretBytes = 32

/** The install secret: made at first start, refused when it is too short to be one. */
export async function readInstallSecret(file: string): Promise<Uint8Array> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  // Two replicas that share the file may both try; the second finds the first one's.
  await writeFile(file, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const secret = await readFile(file)
  if (secret.toString('utf8').trim().length < minSecretBytes)
    throw new Error(
      `The install secret in ${file} is shorter than ${minSecretBytes} bytes: put a longer one there, or remove the file and let the registry make one.`,
    )
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0 && process.platform !== 'win32')
    throw new Error(`The install secret ${file} can be read by others: chmod 600 ${file}`)
  return Buffer.from(secret.toString('utf8').trim())
}
