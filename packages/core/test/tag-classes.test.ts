import { TagClass, TagClasses } from '@repertoire/contract'
import { completedClasses, reachedClasses, refuseClasses, warnOfClasses, type GrantRecord } from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check, numRuns, patienceMs } from './check-property.ts'

const nowMs = 100
const builtIn = TagClasses.parse({})

function grant(text: string, at = 0, expiresAt: number | null = null): GrantRecord {
  return { id: `g${at}`, agentId: 'a', pattern: text.replace(/^!/, ''), deny: text.startsWith('!'), expiresAt }
}
const grants = (...texts: string[]): GrantRecord[] => texts.map((text, at) => grant(text, at))
const reached = (...texts: string[]): object =>
  Object.fromEntries(reachedClasses(grants(...texts), builtIn, nowMs).map(({ tagClass, grants: by }) => [tagClass, by.map(({ id }) => id)]))

/** The rule as it is told, over every tag that can be written with a few words: one of them is named by no rule. */
const risky = /^(exec|fs:write|secrets|payments|smtp|network|payload)(:|$)|^fs$/
const words = ['fs', 'read', 'write', 'network', 'orders', 'secrets', 'other', 'more', 'still-more']
const everyTag = words.flatMap((one) => [
  one,
  ...words.flatMap((two) => [`${one}:${two}`, ...words.map((three) => `${one}:${two}:${three}`)]),
])
const respelled = (text: string): string => text.replace(/^filesystem(?=:|$)/, 'fs')
function names(pattern: string, tag: string): boolean {
  const text = respelled(pattern)
  return text === tag || (text.endsWith('*') && tag.startsWith(text.slice(0, -1)))
}
function reference(held: readonly GrantRecord[], classes: TagClasses): [TagClass, string[]][] {
  const live = held.filter(({ expiresAt }) => expiresAt === null || expiresAt > nowMs)
  const gives = (given: GrantRecord, tag: string): boolean => names(given.pattern, tag) && !(given.pattern.endsWith('*') && risky.test(tag))
  const isFree = everyTag.filter((tag) => !live.some((rule) => rule.deny && names(rule.pattern, tag)))
  return TagClass.options.flatMap((tagClass): [TagClass, string[]][] => {
    const tags = isFree.filter((tag) => classes[tagClass].some((pattern) => names(pattern, tag)))
    const by = live.filter((given) => !given.deny && tags.some((tag) => gives(given, tag)))
    return by.length === 0 ? [] : [[tagClass, by.map(({ id }) => id)]]
  })
}

// `other`, `more` and `still-more` are in no pattern: under every prefix there is a tag that nobody has thought of.
const word = fc.constantFrom('fs', 'read', 'write', 'network', 'orders', 'secrets')
const tag = fc.array(word, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(':'))
const pattern = fc.oneof(
  { weight: 4, arbitrary: tag },
  { weight: 4, arbitrary: tag.map((text) => `${text}:*`) },
  fc.constantFrom('*', 'filesystem', 'filesystem:*', 'filesystem:read'),
)
const expiry = fc.constantFrom(null, null, null, nowMs, nowMs + 1)
const rules = fc
  .array(fc.tuple(pattern, fc.constantFrom('', '', '', '!'), expiry), { maxLength: 6, size: 'max' })
  .map((given) => given.map(([text, sign, expiresAt], at) => grant(`${sign}${text}`, at, expiresAt)))
const some = fc.array(pattern, { minLength: 1, maxLength: 6, size: 'max' })
const classesOf = fc.record({ private_data: some, untrusted_content: some, way_out: some })

describe('the classes that some grants reach', { timeout: patienceMs }, () => {
  it('are those of which a tag could be allowed and is not denied, with every grant that gives them', () => {
    const seen = [0, 0, 0, 0]
    check([rules, classesOf], (held, classes) => {
      const found = reachedClasses(held, classes, nowMs).map(({ tagClass, grants: by }) => [tagClass, by.map(({ id }) => id)])
      expect(found).toEqual(reference(held, classes))
      seen[found.length] = (seen[found.length] ?? 0) + 1
    })
    console.log(`${numRuns} sets of grants reach 0, 1, 2, 3 classes: ${seen.join(', ')}`)
    expect(seen.every((count) => count > numRuns / 40)).toBe(true)
  })
  it('are completed by a change exactly where all are reached after it and were not before', () => {
    check([rules, pattern, classesOf], (held, text, classes) => {
      const after = [...held, grant(text, 9)]
      const all = TagClass.options.length
      const [was, is] = [held, after].map((given) => reference(given, classes).length)
      expect(completedClasses({ before: held, after }, classes, nowMs) !== undefined).toBe(is === all && was !== all)
      expect(completedClasses({ before: after, after: held }, classes, nowMs)).toBeUndefined()
    })
  })
  it('are, as built in, what reads files, reaches the network and writes mail', () => {
    expect(reached('fs:read', 'network', 'smtp')).toEqual({ private_data: ['g0'], untrusted_content: ['g1'], way_out: ['g1', 'g2'] })
    expect(reached('fs:*', 'network:example.com')).toEqual({ private_data: ['g0'], untrusted_content: ['g1'], way_out: ['g1'] })
    // A wildcard over everything allows nothing of high risk.
    expect(reached('*')).toEqual({ private_data: ['g0'] })
    expect(reached('fs:*', '!fs:read:*', '!fs:read')).toEqual({})
    expect(reached('fs:*', '!fs:read:*')).toEqual({ private_data: ['g0'] })
    expect(reached('filesystem:read:reports')).toEqual({ private_data: ['g0'] })
    expect(reached('orders:read', 'fs:write', 'exec')).toEqual({})
  })
  it('are named with the grants that give them, in the warning and in the refusal', () => {
    const all = reachedClasses(grants('fs:read', 'network', 'smtp', 'smtp'), builtIn, nowMs)
    expect(warnOfClasses('bot', all)).toEqual({
      code: 'all_tag_classes',
      message:
        'bot holds private data (fs:read), untrusted content (network), a way out (network, smtp): what it reads from strangers may make it send out what is private.',
    })
    expect(refuseClasses('bot', all)).toMatchObject({
      code: 'ILLEGAL_TRANSITION',
      details: [
        { path: '/accept_risk', rule: 'tag_classes', expected: 'private_data', got: 'fs:read' },
        { path: '/accept_risk', rule: 'tag_classes', expected: 'untrusted_content', got: 'network' },
        { path: '/accept_risk', rule: 'tag_classes', expected: 'way_out', got: 'network, smtp' },
      ],
    })
  })
})
