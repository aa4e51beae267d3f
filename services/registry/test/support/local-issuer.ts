import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OidcConfig } from '../../src/http/token-verifier.ts'

/** How a token is written: anything a forger could choose. */
export type TokenHeader = {
  readonly alg?: string
  readonly typ?: string | null
  readonly kid?: string
  readonly key?: CryptoKey | Uint8Array
}

/** An issuer of tokens on this machine, and what it was asked. */
export type LocalIssuer = {
  readonly address: string
  readonly config: OidcConfig
  readonly publicJwk: Record<string, unknown>
  readonly asked: () => number
  readonly redirect: (to: string | undefined) => void
  /** A token, good for five minutes unless its claims say otherwise. */
  readonly token: (claims?: JWTPayload, header?: TokenHeader) => Promise<string>
  readonly close: () => void
}

/** Starts an issuer whose tokens name an agent in `client`, roles in `groups` and grants in `scope`. */
export async function openLocalIssuer(): Promise<LocalIssuer> {
  const pair = await generateKeyPair('RS256')
  const publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let asked = 0
  let redirectTo: string | undefined
  const server = createServer((_, response) => {
    asked += 1
    if (redirectTo !== undefined) return void response.writeHead(302, { location: redirectTo }).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [publicJwk] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address,
    publicJwk,
    config: OidcConfig.parse({
      issuer: 'https://id.example.com',
      audience: 'repertoire',
      jwks_url: `${address}/jwks`,
      agent_claim: 'client',
      role_claim: 'groups',
      roles: { operators: 'operator', readers: 'auditor' },
      grant_claim: 'scope',
      grants: { orders: ['orders:read'], vault: ['vault'] },
    }),
    asked: () => asked,
    redirect: (to) => void (redirectTo = to),
    token: (claims = {}, { alg = 'RS256', typ = 'JWT', kid = 'k1', key = pair.privateKey } = {}) =>
      new SignJWT({
        iss: 'https://id.example.com',
        aud: 'repertoire',
        exp: Math.floor(Date.now() / 1000) + 300,
        client: 'token-bot',
        ...claims,
      })
        .setProtectedHeader({ alg, kid, ...(typ === null ? {} : { typ }) })
        .sign(key),
    close: () => void server.close(),
  }
}
