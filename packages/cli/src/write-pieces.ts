import { open, rename, rm } from 'node:fs/promises'
import { usageError } from './command-error.ts'
import { writeOutWhole } from './terminal.ts'

/** Writes a text to standard output as it comes, as fast as its reader takes it, until the reader is gone. */
export async function writePieces(pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) if (!(await writeOutWhole(piece))) return
}

/** Writes a text to a file as it comes, and answers with its bytes; the file has its name only once it is whole. */
export async function writeFileOf(file: string, pieces: AsyncIterable<string>): Promise<number> {
  const part = `${file}.part`
  const refuse = (error: unknown): never => {
    throw usageError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}.`, 'name another file with --out')
  }
  const handle = await open(part, 'w').catch(refuse)
  try {
    for await (const piece of pieces) await handle.appendFile(piece).catch(refuse)
    const { size } = await handle.stat()
    await handle.close()
    await rename(part, file).catch(refuse)
    return size
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}
