import type { Comparator, Range } from 'semver'

/** A release by its three numbers, and by one that orders releases as far as it reaches. */
export type Release = { readonly major: number; readonly minor: number; readonly patch: number; readonly key: number }

/** The releases from one on and below another. */
export type Interval = { readonly from: Release; readonly below: Release }

/** What a range means for releases, one interval for each alternative; a pre-release is in none. */
export function intervalsOf(range: Range): Interval[] {
  return range.set.flatMap((comparators) => {
    const bounds = comparators.map(boundsOf)
    const from = bounds.reduce((most, bound) => (isBelow(most, bound.from) ? bound.from : most), first)
    const below = bounds.reduce((least, bound) => (isBelow(bound.below, least) ? bound.below : least), endless)
    return isBelow(from, below) ? [{ from, below }] : []
  })
}

type Numbers = Pick<Release, 'major' | 'minor' | 'patch'>

/** Whether one release comes before another. */
export function isBelow(one: Numbers, other: Numbers): boolean {
  if (one.major !== other.major) return one.major < other.major
  if (one.minor !== other.minor) return one.minor < other.minor
  return one.patch < other.patch
}

// 17, 18 and 18 bits fill what a number holds exactly. What is larger shares a key with its neighbours, never with its betters.
const majors = 2 ** 17
const others = 2 ** 18

/** One number that orders releases: a smaller one never belongs to a later release, an equal one may. */
export function keyOf({ major, minor, patch }: Numbers): number {
  if (major >= majors) return Number.MAX_SAFE_INTEGER
  const start = major * others * others
  return minor >= others ? start + others * others - 1 : start + minor * others + Math.min(patch, others - 1)
}

const releaseOf = (numbers: Numbers): Release => ({ ...numbers, key: keyOf(numbers) })
const first = releaseOf({ major: 0, minor: 0, patch: 0 })
const endless = releaseOf({ major: Number.POSITIVE_INFINITY, minor: 0, patch: 0 })

function boundsOf({ operator, semver, value }: Comparator): Interval {
  if (value === '') return { from: first, below: endless }
  const { major, minor, patch } = semver
  const named = releaseOf({ major, minor, patch })
  // The release of a pre-release comes right after it, and nothing else that counts lies between.
  const next = semver.prerelease.length > 0 ? named : releaseOf({ major, minor, patch: patch + 1 })
  switch (operator) {
    case '>=':
      return { from: named, below: endless }
    case '>':
      return { from: next, below: endless }
    case '<':
      return { from: first, below: named }
    case '<=':
      return { from: first, below: next }
    default:
      return { from: named, below: next }
  }
}
