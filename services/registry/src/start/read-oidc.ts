import { createTokenVerifier, OidcConfig, type TokenVerifier } from '../http/token-verifier.ts'
import { readJsonSetting } from './read-json-setting.ts'

/** Reads whom to trust for tokens from the file that REPERTOIRE_OIDC_FILE names; without one, only keys are good. */
export async function readTokenVerifier(file: string | undefined, now: () => Date): Promise<TokenVerifier | undefined> {
  return file === undefined ? undefined : createTokenVerifier(await readJsonSetting('REPERTOIRE_OIDC_FILE', file, OidcConfig), now)
}
