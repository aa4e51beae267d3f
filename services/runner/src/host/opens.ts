/** What the tags of a version open to its code. */
export type Opens = {
  readonly reads: (mount: string) => boolean
  readonly writes: (mount: string) => boolean
  readonly fetches: (host: string) => boolean
  readonly mails: boolean
}

/** Turns permission tags into limits: no tag opens nothing, and a bare area opens all that the operator mapped to it. */
export function opensOf(tags: readonly string[]): Opens {
  const known = new Set(tags.map((tag) => tag.replace(/^filesystem(?=:|$)/, 'fs')))
  const has = (...wanted: string[]): boolean => wanted.some((tag) => known.has(tag))
  return {
    reads: (mount) => has('fs', 'fs:read', `fs:read:${mount}`),
    writes: (mount) => has('fs', 'fs:write', `fs:write:${mount}`),
    fetches: (host) => has('network', `network:${host.toLowerCase()}`),
    mails: has('smtp'),
  }
}
