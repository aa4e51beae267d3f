import type { Config } from '../config.ts'
import { databaseErrorCode } from '../store/database-error.ts'

const unwritable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOSPC', 'EDQUOT', 'EIO'])

/** Says in one sentence why a start failed and what to do about it. */
export function explainStart(error: unknown, config: Config): Error {
  const code = databaseErrorCode(error)
  const message = error instanceof Error ? error.message : String(error)
  if (code === 'EADDRINUSE')
    return new Error(
      `Port ${config.port} on ${config.host} is in use: stop what listens there, or set REPERTOIRE_PORT to another one (0 takes a free one).`,
    )
  if (code === 'EACCES' && /listen/.test(message))
    return new Error(`This user may not listen on port ${config.port}: set REPERTOIRE_PORT to one above 1023.`)
  if (code === 'EADDRNOTAVAIL')
    return new Error(`This machine has no address ${config.host}: set REPERTOIRE_HOST to one it has, such as 127.0.0.1.`)
  const isOfFile = isFileError(error)
  if (code !== undefined && unwritable.has(code) && (isOfFile || config.databaseUrl === undefined))
    return new Error(`The data directory ${config.dataDir} cannot be written: ${message}. Set REPERTOIRE_DATA_DIR to a folder that can.`)
  if (config.databaseUrl !== undefined && code !== undefined && !isOfFile) {
    const where = `the Postgres of DATABASE_URL (${redact(config.databaseUrl)})`
    if (code.startsWith('28')) return new Error(`${where} refused the user or password.`)
    if (code === '3D000') return new Error(`${where} has no database of that name: create it first.`)
    if (code === '42501') return new Error(`The user of ${where} may not create tables.`)
    if (code === '25006' || code === '55000') return new Error(`${where} takes no changes now: is it the primary? (${message})`)
    if (/^(E[A-Z]+|CONNECT|CONNECTION|08|53|57)/.test(code))
      return new Error(`Could not reach ${where}: is it running, and is the address right? (${code})`)
  }
  if ((code === 'ENOTFOUND' || code === 'EAI_AGAIN') && config.databaseUrl === undefined)
    return new Error(`There is no address ${config.host}: set REPERTOIRE_HOST to one of this machine, such as 127.0.0.1.`)
  return error instanceof Error ? error : new Error(message)
}

const fileCalls = /^(f?open|mkdir|mkdtemp|write|fsync|fdatasync|rename|unlink|rm|rmdir|f?chmod|f?chown|f?truncate|link|copyfile)$/
const otherCalls = /^(connect|listen|bind|getaddrinfo|spawn)/

// What a socket says has the same codes; an error of a file names its path, or a call that only files have.
function isFileError(error: unknown): boolean {
  let at: unknown = error
  for (let depth = 0; depth < 4 && typeof at === 'object' && at !== null; depth += 1) {
    const { path, syscall, cause } = at as { readonly path?: unknown; readonly syscall?: unknown; readonly cause?: unknown }
    const call = typeof syscall === 'string' ? syscall : ''
    if (typeof path === 'string' && !otherCalls.test(call)) return true
    // A write to a socket that is gone is told by its code.
    if (fileCalls.test(call)) return !/^E(PIPE|CONN|TIMEDOUT)/.test(databaseErrorCode(at) ?? '')
    at = cause
  }
  return false
}

function redact(url: string): string {
  const parsed = new URL(url)
  return `${parsed.hostname}${parsed.port === '' ? '' : `:${parsed.port}`}${parsed.pathname}`
}
