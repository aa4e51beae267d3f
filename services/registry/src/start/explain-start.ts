import type { Config } from '../config.ts'
import { databaseErrorCode } from '../store/database-error.ts'

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
  if (config.databaseUrl !== undefined && code !== undefined) {
    const where = `the Postgres of DATABASE_URL (${redact(config.databaseUrl)})`
    if (code.startsWith('28')) return new Error(`${where} refused the user or password.`)
    if (code === '3D000') return new Error(`${where} has no database of that name: create it first.`)
    if (code === '42501') return new Error(`The user of ${where} may not create tables.`)
    if (/^(E[A-Z]+|CONNECT|CONNECTION|08|53|57)/.test(code))
      return new Error(`Could not reach ${where}: is it running, and is the address right? (${code})`)
  }
  if ((code === 'ENOTFOUND' || code === 'EAI_AGAIN') && config.databaseUrl === undefined)
    return new Error(`There is no address ${config.host}: set REPERTOIRE_HOST to one of this machine, such as 127.0.0.1.`)
  if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOSPC')
    return new Error(`The data directory ${config.dataDir} cannot be written: ${message}. Set REPERTOIRE_DATA_DIR to a folder that can.`)
  return error instanceof Error ? error : new Error(message)
}

function redact(url: string): string {
  const parsed = new URL(url)
  return `${parsed.hostname}${parsed.port === '' ? '' : `:${parsed.port}`}${parsed.pathname}`
}
