import { readFile } from 'node:fs/promises'
import { createTokenVerifier, OidcConfig, type TokenVerifier } from '../http/token-verifier.ts'

/** Reads whom to trust for tokens from the file that REPERTOIRE_OIDC_FILE names; without one, only keys are good. */
export async function readTokenVerifier(file: string | undefined, now: () => Date): Promise<TokenVerifier | undefined> {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`REPERTOIRE_OIDC_FILE=${file} cannot be read: ${error.code ?? 'unknown'}.`)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`REPERTOIRE_OIDC_FILE=${file} is not JSON.`)
  }
  const parsed = OidcConfig.safeParse(value)
  if (parsed.success) return createTokenVerifier(parsed.data, now)
  const [issue] = parsed.error.issues
  throw new Error(`REPERTOIRE_OIDC_FILE=${file} is not right: ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'unknown'}.`)
}
