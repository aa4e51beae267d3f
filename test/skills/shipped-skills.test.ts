import { checkCompatibility, compileSchema, parseExact, type CheckedBundle } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, hasPython, startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { checkedOf, readShippedSkills } from './shipped-skills.ts'

const skills = await readShippedSkills()
const expected = [
  'calculate-date-diff',
  'fetch-url',
  'handle-order',
  'list-files',
  'query-order@1.0.0',
  'query-order@1.1.0',
  'query-order@2.0.0',
  'query-refund',
  'read-file',
  'send-email',
  'write-file',
]

let runner: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner()
})
afterAll(() => runner.close())

it('ships every skill that is promised', () => {
  expect(skills.map(({ folder }) => folder).filter((folder) => expected.includes(folder))).toEqual(expected)
})

describe.each(skills)('$folder', (skill) => {
  it('passes every check without an error or a warning', () => {
    expect(skill.findings).toEqual([])
  })

  it('says when to use it and when not, in a summary too, with five examples', () => {
    const { manifest } = checkedOf(skill)
    expect(manifest.when_to_use).toBeTruthy()
    expect(manifest.when_not_to_use).toBeTruthy()
    expect(manifest.summary).toBeTruthy()
    expect(manifest.examples.length).toBeGreaterThanOrEqual(5)
  })

  it('has examples that its own schema takes', () => {
    const { inputSchema, manifest } = checkedOf(skill)
    const input = compileSchema(inputSchema)
    for (const { say, params } of manifest.examples) expect([say, input.accepts(params)]).toEqual([say, true])
  })

  it('describes every property it declares', () => {
    const { inputSchema, outputSchema } = checkedOf(skill)
    expect([inputSchema, outputSchema ?? '{}'].flatMap((schema) => undescribed(JSON.parse(schema)))).toEqual([])
  })
})

describe.each(['JavaScript', 'Python'])('an example with a result, in %s', (language) => {
  const runnable = skills.filter(({ checked }) => checked?.entry?.endsWith('.py') === (language === 'Python'))
  const examples = runnable.flatMap(({ folder, checked }) =>
    (checked?.manifest.examples ?? []).filter(({ result }) => result !== undefined).map((example) => ({ folder, ...example })),
  )

  it.skipIf(language === 'Python' && !hasPython).each(examples)('is what comes back: $folder, $say', async ({ folder, params, result }) => {
    expect(dataOf(await runner.call(folder, params))).toEqual(result)
  })
})

describe('the versions of query-order', () => {
  const versions = skills.flatMap(({ folder, checked }) =>
    folder.startsWith('query-order@') && checked !== undefined ? [schemasOf(checked)] : [],
  )

  it('may follow each other: 1.1.0 keeps what 1.0.0 declares', () => {
    const [first, second] = versions
    if (first === undefined || second === undefined) throw new Error('two versions of query-order are missing')
    expect(checkCompatibility(second, [first])).toEqual([])
  })

  it('need a major for 2.0.0, which renames amount', () => {
    const [, second, third] = versions
    if (second === undefined || third === undefined) throw new Error('two versions of query-order are missing')
    const asMinor = { ...third, semver: semverOf('1.2.0') }
    expect(checkCompatibility(asMinor, [second]).map(({ message }) => message)).toEqual([expect.stringContaining('orders[].amount')])
  })
})

function schemasOf({ manifest, inputSchema, outputSchema }: CheckedBundle): Parameters<typeof checkCompatibility>[0] {
  return { semver: semverOf(manifest.version), inputSchema, outputSchema }
}

function semverOf(version: string): Parameters<typeof checkCompatibility>[0]['semver'] {
  const semver = parseExact(version)
  if (semver === undefined) throw new Error(`${version} is no version`)
  return semver
}

function undescribed(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const properties =
    'properties' in node && typeof node.properties === 'object' && node.properties !== null ? Object.entries(node.properties) : []
  return [
    ...properties.filter(([, property]) => typeof (property as { description?: unknown }).description !== 'string').map(([name]) => name),
    ...Object.values(node).flatMap(undescribed),
  ]
}
