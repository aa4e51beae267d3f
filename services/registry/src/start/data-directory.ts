import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { isAlive } from '../postgres/postmaster.ts'

/** A data directory that is ours until it is released. */
export type DataDirectory = { readonly release: () => Promise<void> }

/** Takes a data directory for this process; one that another live process holds is refused with a sentence. */
export async function takeDataDirectory(dataDir: string): Promise<DataDirectory> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  const file = join(dataDir, 'registry.lock')
  const letGo = await holdName(await realpath(dataDir))
  const [pid = '', started = ''] = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ')
  if (letGo === undefined || (await isHolder(Number(pid), started))) {
    letGo?.()
    throw new Error(
      `The data directory ${dataDir} is in use by process ${pid === '' ? '(unknown)' : pid}: stop that one first, or set REPERTOIRE_DATA_DIR to another folder.`,
    )
  }
  // The file says who holds the directory; it appears whole, in place of whatever a dead process left.
  const mine = `${file}.${process.pid}`
  await writeFile(mine, `${process.pid} ${await startOf(process.pid)}\n`, { mode: 0o600 })
  await rename(mine, file)
  return {
    release: async () => {
      await rm(file, { force: true })
      letGo()
    },
  }
}

/**
 * Holds a name that the kernel gives to one process alone and takes back when that ends, however it ends: files cannot do
 * that, since between the look at a dead one's lock and its removal another process may have come. Undefined when taken.
 * Only Linux has such names; elsewhere the lock file has to do.
 */
async function holdName(directory: string): Promise<(() => void) | undefined> {
  if (process.platform !== 'linux') return () => undefined
  const name = `\0repertoire-${createHash('sha256').update(directory).digest('hex')}`
  const server = createServer((socket) => socket.destroy())
  const held = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
    server.listen(name, () => resolve(true))
  })
  if (!held) return undefined
  server.unref()
  return () => void server.close()
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
