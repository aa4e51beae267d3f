import { SemVer } from 'semver'

/** A version that can be stored, or why not and what to write instead. */
export type VersionVerdict =
  | { readonly ok: true; readonly version: SemVer }
  | { readonly ok: false; readonly message: string; readonly fix: string }

/** Reads a version as its author wrote it: strict semver, in canonical form, without build metadata. */
export function readVersion(text: string): VersionVerdict {
  const short = /^\d+(\.\d+)?$/.exec(text)
  if (short)
    return {
      ok: false,
      message: `version ${text} is not a full semver version`,
      fix: `write "${text}${short[1] === undefined ? '.0.0' : '.0'}"`,
    }
  if (text.includes('+'))
    return {
      ok: false,
      message: `version ${text} carries build metadata, which does not order versions`,
      fix: `write "${text.slice(0, text.indexOf('+'))}"`,
    }
  if (text.length > 256) return { ok: false, message: 'the version is longer than 256 characters', fix: 'write a shorter one' }
  const bare = /^[v=\s]+\d/.test(text) ? text.replace(/^[v=\s]+/, '') : text
  const version = parseExact(bare)
  if (version === undefined)
    return { ok: false, message: `version ${JSON.stringify(text)} is not semver`, fix: 'write three numbers, such as "1.0.0"' }
  if (bare !== text)
    return { ok: false, message: `version ${JSON.stringify(text)} is not in canonical form`, fix: `write "${version.version}"` }
  return { ok: true, version }
}

// Thousands of skills have the same few versions; what clients pin is bounded with them.
const maxRemembered = 4096
const remembered = new Map<string, SemVer>()

/** Parses one exact version in canonical form; undefined for everything else. */
export function parseExact(text: string): SemVer | undefined {
  const known = remembered.get(text)
  if (known !== undefined) return known
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text)) return undefined
  try {
    const version = new SemVer(text)
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(text, version)
    return version
  } catch {
    return undefined
  }
}

/** The line of a version: what a caret range keeps together, a major or `0.minor` below 1.0. */
export function lineOf(version: SemVer): string {
  return version.major > 0 ? String(version.major) : `0.${version.minor}`
}
