import { bucketOf, parseRange, Refusal, resolve, type ResolveContext, type Resolved } from '@repertoire/core'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { skillOf, type SkillSketch } from './skill-fixture.ts'

const numRuns = Number(process.env['FAST_CHECK_RUNS'] ?? 2000)
const check = (property: fc.IProperty<never> | fc.IRawProperty<never>): void => void fc.assert(property, { numRuns })

const version = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), fc.constantFrom('', '-rc.1'))
  .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre}`)
const status = fc.constantFrom('candidate', 'released', 'deprecated', 'yanked', 'blocked' as const)
const range = fc.oneof(
  version,
  version.map((text) => `^${text}`),
  version.map((text) => `~${text}`),
  fc.constantFrom('*', '1.x', '>=0.1 <2', '^0.2 || ^2'),
)
const sketch: fc.Arbitrary<SkillSketch> = fc
  .record({
    versions: fc.uniqueArray(fc.record({ version, status }), { selector: (entry) => entry.version, minLength: 1, maxLength: 12 }),
    points: fc.integer({ min: 0, max: 10_000 }),
    pick: fc.nat(),
  })
  .map(({ versions, points, pick }) => {
    const stable: Record<string, string> = {}
    for (const entry of versions) {
      if (entry.version.includes('-') || (entry.status !== 'released' && entry.status !== 'deprecated')) continue
      const [major = '', minor = ''] = entry.version.split('.')
      const line = major === '0' ? `0.${minor}` : major
      const known = stable[line]
      if (known === undefined || pick % 2 === 0) stable[line] = entry.version
    }
    const candidates = versions.filter((entry) => entry.status === 'candidate' && !entry.version.includes('-'))
    const candidate = candidates[pick % Math.max(1, candidates.length)]
    return { versions, stable, rollouts: candidate === undefined ? [] : [{ candidate: candidate.version, basisPoints: points }] }
  })
const context = (agentId: string): ResolveContext => ({
  agentId,
  team: null,
  pinsCandidates: false,
  holds: () => true,
  units: { agent: agentId },
})
const attempt = (of: SkillSketch, ranges: readonly string[], agent = 'agent-1'): Resolved | Refusal => {
  try {
    return resolve(skillOf(of), ranges.map(parseRange), context(agent))
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
const outcome = (result: Resolved | Refusal): string =>
  result instanceof Refusal ? result.code : `${result.version.version} ${result.via}`
const withPoints = (of: SkillSketch, basisPoints: number): SkillSketch => ({
  ...of,
  rollouts: (of.rollouts ?? []).map((rollout) => ({ ...rollout, basisPoints })),
})

describe('resolution', () => {
  it('is total, deterministic and independent of the order of its input', () => {
    check(
      fc.property(sketch, fc.array(range, { minLength: 1, maxLength: 3 }), (of, ranges) => {
        const reversed = { ...of, versions: [...of.versions].reverse() }
        return (
          outcome(attempt(of, ranges)) === outcome(attempt(reversed, ranges)) &&
          outcome(attempt(of, ranges)) === outcome(attempt(of, ranges))
        )
      }) as never,
    )
  })
  it('stays inside every range that was given', () => {
    check(
      fc.property(sketch, fc.array(range, { minLength: 1, maxLength: 3 }), (of, ranges) => {
        const result = attempt(of, ranges)
        return (
          result instanceof Refusal ||
          ranges.map(parseRange).every((asked) => asked.pin?.version === result.version.version || asked.range.test(result.version.semver))
        )
      }) as never,
    )
  })
  it('serves no blocked version, yanked ones by pin alone, and no candidate as stable', () => {
    check(
      fc.property(sketch, range, (of, asked) => {
        const result = attempt(of, [asked])
        if (result instanceof Refusal) return true
        const { status: found } = result.version
        return found !== 'blocked' && (found !== 'yanked' || result.via === 'pinned') && (found !== 'candidate' || result.via !== 'stable')
      }) as never,
    )
  })
  it('never chooses above the ceiling of a line', () => {
    check(
      fc.property(sketch, range, (of, asked) => {
        const result = attempt(of, [asked])
        if (result instanceof Refusal || result.via !== 'stable') return true
        const ceiling = skillOf(of).stable.get(result.version.line)
        return ceiling !== undefined && result.version.semver.compare(ceiling.semver) <= 0
      }) as never,
    )
  })
  it('moves units only towards the candidate as the percentage grows', () => {
    check(
      fc.property(sketch, range, fc.nat(10_000), fc.nat(10_000), fc.string(), (of, asked, a, b, agent) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        const before = attempt(withPoints(of, low), [asked], agent)
        const after = attempt(withPoints(of, high), [asked], agent)
        if (before instanceof Refusal) return true
        return before.via === 'canary'
          ? !(after instanceof Refusal) && after.version.version === before.version.version && after.via === 'canary'
          : after instanceof Refusal || after.via === 'canary' || outcome(after) === outcome(before)
      }) as never,
    )
  })
  it('exposes nobody at 0 % and everybody at 100 %', () => {
    check(
      fc.property(sketch, range, fc.string({ minLength: 1 }), (of, asked, agent) => {
        const none = attempt(withPoints(of, 0), [asked], agent)
        const without = attempt({ ...of, rollouts: [] }, [asked], agent)
        const all = attempt(withPoints(of, 10_000), [asked], agent)
        const someone = attempt(withPoints(of, 9_999), [asked], agent)
        return (
          outcome(none) === outcome(without) &&
          (someone instanceof Refusal || someone.via !== 'canary' || outcome(all) === outcome(someone))
        )
      }) as never,
    )
  })
  it('is not changed by what is published, nor by deprecation', () => {
    check(
      fc.property(sketch, range, version, (of, asked, fresh) => {
        if (of.versions.some((entry) => entry.version === fresh) || parseRange(asked).pin?.version === fresh) return true
        const published = { ...of, versions: [...of.versions, { version: fresh, status: 'candidate' as const }] }
        const deprecated = {
          ...of,
          versions: of.versions.map((entry) => (entry.status === 'released' ? { ...entry, status: 'deprecated' as const } : entry)),
        }
        return (
          outcome(attempt(of, [asked])) === outcome(attempt(published, [asked])) &&
          outcome(attempt(of, [asked])) === outcome(attempt(deprecated, [asked]))
        )
      }) as never,
    )
  })
  it('puts every unit into one of ten thousand buckets', () => {
    check(
      fc.property(fc.string(), fc.string(), fc.string(), (salt, kind, value) => {
        const bucket = bucketOf(salt, kind, value)
        return Number.isInteger(bucket) && bucket >= 0 && bucket < 10_000
      }) as never,
    )
  })
})
