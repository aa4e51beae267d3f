import { RedactFile } from '@repertoire/contract'
import { BadRedactRule, compileRedaction, type RedactionPolicy } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../config.ts'

/** What is redacted: what is built in, and what the file says that REPERTOIRE_REDACT_FILE names. Digests are keyed by the install secret. */
export async function readRedaction(file: string | undefined, installSecret: Uint8Array): Promise<RedactionPolicy> {
  const hash = (text: string): string => createHmac('sha256', installSecret).update(`repertoire redaction\n${text}`).digest('hex')
  if (file === undefined) return compileRedaction({ rules: [], keys: [] }, hash)
  try {
    return compileRedaction(await readRules(file), hash)
  } catch (error) {
    throw error instanceof BadRedactRule ? wrong(file, `is not right: ${error.message}`) : error
  }
}

async function readRules(file: string): Promise<RedactFile> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw wrong(file, `cannot be read: ${error.code ?? 'unknown'}`)
  })
  const parsed = RedactFile.safeParse(parse(text, file))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw wrong(file, `is not right: ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'unknown'}`)
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(file, 'is not JSON')
  }
}

function wrong(file: string, what: string): ConfigError {
  return new ConfigError(`REPERTOIRE_REDACT_FILE=${file} ${what}.`)
}
