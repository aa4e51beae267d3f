import { hash } from 'node:crypto'
import type { Ask } from './door.ts'
import { headerOf } from './header-of.ts'

/** An ETag from what a body will be built from, so that nothing has to be built to compare it. */
export function etagOf(parts: readonly string[]): string {
  return `"${hash('sha256', parts.join('\n'), 'base64url').slice(0, 27)}"`
}

/** The ETag of a skill or of what belongs to it: its revision, which If-Match is compared with, and a hash of this view of it. */
export function skillEtag(revision: number, parts: readonly string[]): string {
  return `"${revision}.${hash('sha256', parts.join('\n'), 'base64url').slice(0, 22)}"`
}

/** Whether the reader has this already. */
export function isUnchanged(c: Ask, etag: string): boolean {
  const known = headerOf(c, 'if-none-match')
  if (known === undefined || known === etag) return known !== undefined
  return known.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}

/** The answer to a reader that has it already. */
export function notModified(c: Ask, etag: string): Response {
  return new Response(null, {
    status: 304,
    headers: { etag, 'cache-control': 'private, no-cache', vary: varyHeader, 'repertoire-request-id': c.get('requestId') },
  })
}

/** What an agent's answer depends on beside its path. */
export const varyHeader = 'Authorization, Repertoire-On-Behalf-Of, Repertoire-Requires, Repertoire-Session, Repertoire-Tenant'
