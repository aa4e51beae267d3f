import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { CommandError } from './command-error.ts'
import { hasFileModes } from './environment.ts'

const maxBytes = 4096
const others = 0o077

/** Reads a key from a file that only its owner can read; throws one sentence with the fix otherwise. */
export function readKeyFile(file: string): string {
  const handle = open(file)
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile() || stat.size > maxBytes)
      throw refuse(`${file} is not a key file.`, 'name the file that holds the key and nothing else')
    if (hasFileModes && (stat.mode & others) !== 0)
      throw refuse(`${file} can be read by others on this machine, so its key is not used.`, `chmod 600 ${file}`)
    const key = readFileSync(handle, 'utf8').trim()
    if (key === '') throw refuse(`${file} is empty.`, 'write the key into it')
    return key
  } finally {
    closeSync(handle)
  }
}

function open(file: string): number {
  try {
    return openSync(file, 'r')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw refuse(
      `The key file ${file} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : (code ?? 'unknown')}.`,
      'correct --key-file or REPERTOIRE_KEY_FILE',
    )
  }
}

function refuse(message: string, hint: string): CommandError {
  return new CommandError({ exit: 'denied', code: 'KEY_FILE', message, hint })
}
