import { isHighRisk, normaliseTag, permit, ruleFor, type GrantRecord, type Permit } from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check, numRuns, patienceMs } from './check-property.ts'

const nowMs = 100

/** The rule as it is told, word by word. */
const risky = /^(exec|fs:write|secrets|payments|smtp|network|payload)(:|$)|^fs$/
const respelled = (text: string): string => text.replace(/^filesystem(?=:|$)/, 'fs')
function covers({ pattern, deny, expiresAt }: GrantRecord, tag: string, atMs: number): boolean {
  const [wanted, asked] = [respelled(pattern).split(':'), respelled(tag).split(':')]
  const isLive = expiresAt === null || atMs < expiresAt
  if (wanted.at(-1) !== '*') return isLive && wanted.join(':') === asked.join(':')
  const isBelow = asked.length >= wanted.length && wanted.slice(0, -1).every((segment, at) => segment === asked[at])
  return isLive && isBelow && (deny || !risky.test(asked.join(':')))
}
function reference(held: readonly GrantRecord[], tags: readonly string[], atMs: number): Omit<Permit, 'ruleId'> {
  const covering = (tag: string): readonly GrantRecord[] => held.filter((rule) => covers(rule, tag, atMs))
  const denied = tags.filter((tag) => covering(tag).some(({ deny }) => deny))
  const missing = tags.filter((tag) => covering(tag).length === 0 || denied.includes(tag))
  return { allow: missing.length === 0, missing, denied }
}

// Few words, so that patterns hit: areas of either risk, names that begin like them, and both spellings of fs.
const calm = ['orders', 'fs', 'filesystem', 'fs:read', 'filesystem:read', 'orders:read', 'orders:write', 'orders:read:a', 'fs:read:a']
const grave = [
  'fs:write',
  'filesystem:write',
  'fs:write:a',
  'smtp',
  'smtp:a',
  'network',
  'network:a',
  'exec',
  'secrets:a',
  'payments',
  'payload:a',
]
const alike = ['fss', 'fs:writer', 'filesystems:read', 'networks', 'smtp2:a', 'order', 'orders:readers', 'ord:read', 'a:b:c:d:e:f:g:h']
const tag = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...calm) },
  { weight: 3, arbitrary: fc.constantFrom(...grave) },
  fc.constantFrom(...alike),
)
const everyTag = [...calm, ...grave, ...alike]
const prefixes = [...new Set(everyTag.flatMap((text) => text.split(':').map((_, at, all) => all.slice(0, at + 1).join(':'))))]
const wildcards = ['*', ...prefixes.map((prefix) => `${prefix}:*`)]
const wild = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('*', 'orders:*', 'fs:*', 'filesystem:*') },
  fc.constantFrom(...wildcards),
  // No patterns: a star elsewhere is a letter like any other, which no tag has.
  fc.constantFrom('*:read', 'orders:*:a', 'fs*', '*:*', 'orders:re*'),
)
const pattern = fc.oneof({ weight: 3, arbitrary: tag }, wild)
const expiry = fc.constantFrom(null, null, null, null, nowMs - 1, nowMs, nowMs + 1)
const rule = fc.tuple(pattern, fc.constantFrom(true, false, false, false, false, false), expiry)
const rules = fc.array(rule, { maxLength: 8, size: 'max' }).map((given) => given.map(toGrant))
// Half of what is required is anything, half is what the agent may hold or lies below it.
const need = fc.oneof(tag, tag, fc.nat(7), fc.nat(7))
const question = fc
  .tuple(rules, fc.oneof({ weight: 12, arbitrary: fc.array(need, { minLength: 1, maxLength: 3, size: 'max' }) }, fc.constant([])))
  .map(([held, needs]) => [held, needs.map((asked) => (typeof asked === 'string' ? asked : tagUnder(held[asked % held.length])))] as const)

function toGrant([text, deny, expiresAt]: readonly [string, boolean, number | null], at: number): GrantRecord {
  return { id: `g${at}`, agentId: 'a', pattern: text, deny, expiresAt }
}
const tagUnder = (held: GrantRecord | undefined): string => held?.pattern.replace(/^\*$/, 'orders').replace(/\*/g, 'a') ?? 'orders'
const verdict = ({ allow, missing, denied }: Permit): Omit<Permit, 'ruleId'> => ({ allow, missing, denied })

describe('permission', { timeout: patienceMs }, () => {
  it('is what the rule says, word by word: the verdict, what is missing, what is denied, and a rule that decided it', () => {
    const seen = { allowed: 0, denied: 0, lacking: 0, open: 0 }
    check([question], ([held, tags]) => {
      const found = permit(held, tags, nowMs)
      expect(verdict(found)).toEqual(reference(held, tags, nowMs))
      expect(decides(found, held, tags)).toBe(true)
      seen[tags.length === 0 ? 'open' : found.allow ? 'allowed' : found.denied.length > 0 ? 'denied' : 'lacking'] += 1
    })
    console.log(`${numRuns} permissions as the reference has them: ${JSON.stringify(seen)}`)
    // A model that only ever says no would prove nothing.
    expect(Object.values(seen).every((count) => count > numRuns / 25)).toBe(true)
  })
  it('explains each tag by the rule that decides it, which is the one of the verdict', () => {
    check([rules, tag], (held, asked) => {
      const found = ruleFor(held, asked, nowMs)
      const { allow, ruleId } = permit(held, [asked], nowMs)
      expect([found?.id ?? 'none', found !== undefined && !found.deny]).toEqual([ruleId, allow])
    })
  })
  it('is never given by a denial more, and never taken by a grant more', () => {
    check([question, pattern], ([held, tags], more) => {
      const before = permit(held, tags, nowMs)
      const denied = permit([...held, toGrant([more, true, null], held.length)], tags, nowMs)
      const granted = permit([...held, toGrant([more, false, null], held.length)], tags, nowMs)
      expect(before.missing.filter((text) => !denied.missing.includes(text))).toEqual([])
      expect(granted.missing.filter((text) => !before.missing.includes(text))).toEqual([])
      expect(granted.denied).toEqual(before.denied)
    })
  })
  it('does not depend on the order of the grants', () => {
    check([question, fc.infiniteStream(fc.nat(1000))], ([held, tags], weights) => {
      const weighted = held.map((grant) => [Number(weights.next().value), grant] as const)
      const other = weighted.sort(([one], [another]) => one - another).map(([, grant]) => grant)
      expect(verdict(permit(other, tags, nowMs))).toEqual(verdict(permit(held, tags, nowMs)))
    })
  })
  it('ends with the last grant: denials alone, and grants whose time is over, allow only what requires nothing', () => {
    check([question], ([held, tags]) => {
      const left = held.filter(({ deny }) => deny)
      const over = held.map((grant) => ({ ...grant, expiresAt: nowMs }))
      for (const nothing of [left, over, []]) expect(permit(nothing, tags, nowMs).allow).toBe(tags.length === 0)
    })
  })
  it('needs every tag, each for itself', () => {
    check([question], ([held, tags]) => {
      const alone = tags.filter((text) => !permit(held, [text], nowMs).allow)
      expect(permit(held, tags, nowMs).missing).toEqual(alone)
    })
  })
  it('reads what an agent holds once, however often it is asked', () => {
    let reads = 0
    const held = [
      {
        ...toGrant(['orders', false, null], 0),
        get pattern() {
          return (reads += 1) > 0 ? 'orders' : ''
        },
      },
    ]
    for (let time = 0; time < 10; time += 1) expect(permit(held, ['orders'], nowMs).allow).toBe(true)
    expect(reads).toBe(1)
  })
})

describe('a tag', () => {
  it('has one spelling', () => {
    const spelt = everyTag.map((text) => [text, normaliseTag(text)])
    expect(spelt).toEqual(everyTag.map((text) => [text, respelled(text)]))
  })
  it('is of high risk with its children, and not because its name begins like one', () => {
    const found = [...everyTag, 'exec:a', 'secrets', 'payments:a', 'executor', 'secretsx', 'paymentsx', 'payload', 'payloads'].map(
      normaliseTag,
    )
    expect(found.filter(isHighRisk)).toEqual(found.filter((text) => risky.test(text)))
  })
})

/** Whether the rule that was named decides: of a no, the first denial or nothing; of a yes, a grant that covers one of the tags. */
function decides({ allow, missing, ruleId }: Permit, held: readonly GrantRecord[], tags: readonly string[]): boolean {
  if (tags.length === 0) return ruleId === 'open'
  const named = held.find(({ id }) => id === ruleId)
  if (allow) return named !== undefined && !named.deny && tags.some((text) => covers(named, text, nowMs))
  const [first = ''] = missing
  const isDenied = held.some((grant) => grant.deny && covers(grant, first, nowMs))
  return isDenied ? named?.deny === true && covers(named, first, nowMs) : ruleId === 'none'
}
