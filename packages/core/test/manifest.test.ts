import { checkBundle, proveSchemas, type Bundle, type BundleCheck } from '@repertoire/core'
import { describe, expect, it } from 'vitest'

const front = (lines: string): string => `---\nname: query-order\ndescription: Finds an order.\n${lines}\n---\nUse it.\n`
const bundle = (skillMd: string, more: Record<string, string> = {}, options: Partial<Bundle> = {}): Bundle => ({
  files: new Map(Object.entries({ 'SKILL.md': skillMd, ...more }).map(([path, text]) => [path, Buffer.from(text)])),
  defaults: {},
  folder: undefined,
  folderMismatch: 'error',
  ...options,
})
const good = 'version: 1.0.0\npermission: []'
const errorsOf = (check: BundleCheck): string[] =>
  check.findings
    .filter((finding) => finding.level === 'error')
    .map((finding) => `${finding.file}:${finding.line ?? ''} ${finding.message} → ${finding.fix ?? ''}`)
const first = (skillMd: string, more: Record<string, string> = {}, options: Partial<Bundle> = {}): string =>
  errorsOf(checkBundle(bundle(skillMd, more, options)))[0] ?? 'fine'

describe('a bundle', () => {
  it('is read: a playbook without code, code with it, and what the front matter says', () => {
    const check = checkBundle(
      bundle(
        front(
          `${good}\neffects: read\ntimeout_ms: 250\nprivate: true\ntags: [a, b]\nmystery: 7\nexamples:\n  - say: "Order 1"\n    params: {order_id: "1", deep: {n: 1.50, flag: true, none: null}}`,
        ),
        { 'skill.py': 'def run(a, c): ...', 'schema.json': '{"type":"object"}' },
      ),
    )
    expect(errorsOf(check)).toEqual([])
    expect(check.checked).toMatchObject({
      kind: 'code',
      entry: 'skill.py',
      instructions: 'Use it.\n',
      extra: { mystery: '7' },
      manifest: {
        version: '1.0.0',
        effects: 'read',
        timeout_ms: 250,
        private: true,
        tags: ['a', 'b'],
        examples: [{ params: { order_id: '1', deep: { n: 1.5, flag: true, none: null } } }],
      },
    })
    expect(checkBundle(bundle(front(good))).checked).toMatchObject({ kind: 'playbook', entry: null, manifest: { effects: 'once' } })
  })
  it('names a probe where it happens once, and only another skill that could be one', () => {
    const code = { 'skill.js': 'export const run = () => 1', 'input.schema.json': '{"type":"object"}' }
    const withProbe = (lines: string, files: Record<string, string> = code): string => first(front(`${good}\n${lines}`), files)
    expect(checkBundle(bundle(front(`${good}\nprobe: find-order`), code)).checked?.manifest.probe).toBe('find-order')
    expect(withProbe('effects: once\nprobe: find-order')).toBe('fine')
    expect(withProbe('effects: read\nprobe: find-order')).toBe(
      'SKILL.md:7 probe is for skills with effects: once, and this one has effects: read → remove probe, or write effects: once',
    )
    expect(withProbe('effects: idempotent\nprobe: find-order')).toContain('SKILL.md:7 probe is for skills with effects: once')
    expect(withProbe('probe: query_order')).toContain('SKILL.md:6 probe names the skill itself')
    expect(withProbe('probe: Find Order')).toContain('SKILL.md:6 probe is not right')
    expect(withProbe('probe: [a]')).toContain('write the name of a skill with effects: read, such as find-mail')
    expect(withProbe('probe: find-order', {})).toContain('a playbook carries nothing out')
  })
  it('has one digest for its bytes and its defaults, whatever their order', () => {
    const digest = (options: Partial<Bundle>, files: Record<string, string> = { 'a.md': 'a', 'b.md': 'b' }): string | undefined =>
      checkBundle(bundle(front('license: MIT'), files, options)).checked?.digest
    const defaults = { version: '1.0.0', permission: [] }
    expect(digest({ defaults })).toBe(digest({ defaults }, { 'b.md': 'b', 'a.md': 'a' }))
    expect(digest({ defaults })).not.toBe(digest({ defaults: { ...defaults, version: '1.0.1' } }))
    expect(digest({ defaults })).not.toBe(digest({ defaults }, { 'a.md': 'a', 'b.md': 'c' }))
  })
  it('takes its version from metadata, and from defaults where an import gives them', () => {
    expect(checkBundle(bundle(front('permission: []\nmetadata:\n  version: 2.0.0'))).checked?.manifest.version).toBe('2.0.0')
    const imported = checkBundle(bundle(front('license: MIT'), {}, { defaults: { version: '1.0.0', permission: [] } })).checked
    expect([imported?.manifest.version, imported?.usedDefaults]).toEqual(['1.0.0', { version: '1.0.0', permission: [] }])
    expect(checkBundle(bundle(front(good), {}, { defaults: { version: '9.0.0', permission: ['x'] } })).checked?.usedDefaults).toEqual({})
  })
  it.each([
    ['no front matter', 'Hello', 'SKILL.md:1 SKILL.md does not start with front matter'],
    ['an unclosed one', '---\nname: a', 'SKILL.md:1 the front matter is not closed'],
    [
      'a version YAML would read as a number',
      front('version: 1.10\npermission: []'),
      'SKILL.md:4 version 1.10 is not a full semver version → write "1.10.0"',
    ],
    ['no version', front('permission: []'), 'SKILL.md:2 version is missing → write version: 1.0.0'],
    ['no permission', front('version: 1.0.0'), 'SKILL.md:2 permission is missing → write permission: []'],
    ['a duplicate key', front(`${good}\nversion: 1.0.1`), 'SKILL.md:6 YAML: Map keys must be unique'],
    ['an alias', front(`${good}\nauthor: &a me\ncost: *a`), 'SKILL.md:6 anchors and aliases are not taken'],
    ['a tag', front(`${good}\nauthor: !!binary aGk=`), 'SKILL.md:6 the YAML tag'],
    ['a prototype key', front(`${good}\nmetadata:\n  __proto__: x`), 'SKILL.md:7 the key __proto__ is not taken'],
    [
      'a colon that wants quotes',
      front(`${good}\nauthor: me: myself`),
      'SKILL.md:6 YAML: Nested mappings are not allowed in compact mappings',
    ],
    ['brackets without end', front(`${good}\nauthor: ${'['.repeat(5000)}`), 'SKILL.md:'],
    ['a bidirectional control', front(`${good}\nauthor: a\u202Eb`), 'SKILL.md:6 it contains U+202E, a bidirectional control'],
    ['an invisible character', front(`${good}\nauthor: a\u200Bb`), 'SKILL.md:6 it contains U+200B'],
    ['a hidden character written as an escape', front(`${good}\nauthor: "a\\u202Eb"`), 'SKILL.md:6 it contains U+202E'],
    ['U+0000 written as an escape', front(`${good}\nmystery: "a\\0b"`), 'SKILL.md:6 it contains U+0000'],
    ['half a character written as an escape', front(`${good}\nsummary: "a\\ud800b"`), 'SKILL.md:6 it contains'],
    ['effects that are none', front(`${good}\neffects: sometimes`), 'SKILL.md:6 effects is not right'],
    ['a tag in capitals', front('version: 1.0.0\npermission: [FS]'), 'SKILL.md:5 permission.0 is not right'],
  ])('is refused with %s', (_, skillMd, expected) => {
    expect(first(skillMd)).toContain(expected)
  })
  it('lets emoji, Persian and Hindi keep their joins', () => {
    expect(first(front(`${good}\nauthor: "👩‍💻 می‌خواهم क्‍ष"`))).toBe('fine')
  })
  it.each([
    ['references/a/b.md', 'fine'],
    ['../evil.md', 'the path has an empty, . or .. segment'],
    ['/etc/passwd', 'the path is absolute'],
    ['a\\b.md', 'the path contains a backslash'],
    ['C:/x', 'the path is absolute'],
    ['Skill.md.txt', 'fine'],
  ])('judges the path %s', (path, expected) => {
    expect(first(front(good), { [path]: 'x' })).toContain(expected)
  })
  it('is refused where two files differ by case alone, where code and executor disagree, and where there is no schema', () => {
    expect(first(front(good), { 'skill.md': 'x' })).toContain('differs from SKILL.md only by case')
    expect(
      first(front(`${good}\nexecutor: {kind: http, connection: c, path: /x}`), { 'skill.js': '', 'schema.json': '{"type":"object"}' }),
    ).toContain('executor says http, but there is skill.js')
    expect(first(front(`${good}\nexecutor: {kind: code}`))).toContain('executor says code, but there is no skill.ts')
    expect(first(front(good), { 'skill.js': '' })).toContain('needs an input schema')
    expect(
      first(front(`${good}\nexecutor: {kind: http, connection: c, path: "/x/{town}", method: GET}`), {
        'schema.json': '{"type":"object","properties":{"city":{}}}',
      }),
    ).toContain('names {town}, which is not a required property')
  })
  it('is refused where a reference hides text, and only warned of a stray control character', () => {
    expect(first(front(good), { 'references/a.md': 'line\nx\u{E0041}y' })).toContain('references/a.md:2 it contains U+E0041')
    expect(first(front(good), { 'references/a.md': 'x\u0007y', 'logo.bin': '\u202E' })).toBe('fine')
  })
  it('compares its folder, strictly at home and mildly on import', () => {
    expect(first(front(good), {}, { folder: 'other' })).toContain('the folder is called other, the skill query-order')
    expect(first(front(good), {}, { folder: 'other', folderMismatch: 'warning' })).toBe('fine')
    expect(first(front(good), {}, { folder: 'query_order@1.0.0' })).toBe('fine')
    expect(first(front(good), {}, { folder: 'query-order@1.1.0' })).toContain('the folder says version 1.1.0')
  })
  it('warns of what it declares and nobody keeps yet', () => {
    const { findings } = checkBundle(bundle(front(`${good}\napproval: human\nconcurrency: 1`)))
    expect(findings.map((finding) => `${finding.level} ${finding.message}`)).toEqual([
      expect.stringContaining('warning approval: human'),
      expect.stringContaining('warning concurrency'),
    ])
  })
  it('tells all errors at once', () => {
    const check = checkBundle(bundle(front('version: 1\neffects: x\ntimeout_ms: soon'), { 'schema.json': '{"type":"array"}', '../x': '' }))
    expect(errorsOf(check).length).toBeGreaterThanOrEqual(6)
  })
})

describe('the proof of schemas', () => {
  const prove = (input: string, examples = ''): string[] => {
    const check = checkBundle(bundle(front(`${good}${examples}`), { 'skill.js': '', 'input.schema.json': input }))
    return [
      ...errorsOf(check),
      ...(check.toProve === undefined
        ? []
        : proveSchemas(check.toProve).map((finding) => `${finding.file}:${finding.line ?? ''} ${finding.message}`)),
    ]
  }
  it.each([
    [
      'a keyword of the wrong type',
      '{"type":"object",\n"properties":{"a":{"type":"integr"}}}',
      'input.schema.json:2 it is not a valid JSON Schema',
    ],
    ['a root that is no object', '{"type":"array"}', 'the root type is not object'],
    ['a schema that answers with a promise', '{"type":"object","$async":true}', '$async schemas are not taken'],
    [
      'a reference that leaves it',
      '{"type":"object","properties":{"a":{"$ref":"https://x/y"}}}',
      'the reference https://x/y leaves the schema',
    ],
    ['a reference to nothing', '{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}', 'leads nowhere'],
    [
      'references in a circle',
      '{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}',
      'form a cycle',
    ],
    [
      'a pattern that may take for ever',
      '{"type":"object","properties":{"a":{"pattern":"(?=a)b"}}}',
      'is not one that runs in linear time',
    ],
    ['a property named like a prototype', '{"type":"object","properties":{"__proto__":{}}}', 'the name __proto__ is not taken'],
    ['another dialect', '{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}', 'the dialect'],
    ['broken JSON', '{"type":"object",\n}', 'it is not JSON'],
    ['an escaped control', String.raw`{"type":"object","description":"a\u202eb"}`, 'it contains U+202E'],
    ['more than 64 KiB', `{"type":"object","description":"${'x'.repeat(70_000)}"}`, 'larger than 65536 bytes'],
    [
      'recursion that doubles with each level',
      '{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"integer"}]}}}',
      'lead back to it for the same type',
    ],
    [
      'items that are compared each with each',
      '{"type":"object","properties":{"x":{"type":"array","uniqueItems":true,"items":{"type":"object"}}}}',
      'grows with their square',
    ],
    [
      'references that multiply',
      JSON.stringify({
        type: 'object',
        properties: { a: { $ref: '#/$defs/d0' } },
        $defs: Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [
            `d${n}`,
            n === 19 ? {} : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
          ]),
        ),
      }),
      'may take more than',
    ],
  ])('refuses %s', (_, schema, expected) => {
    expect(prove(schema).join('\n')).toContain(expected)
  })
  it('takes unions that recurse for different types, and unique items that are plain or few', () => {
    expect(
      prove(
        '{"type":"object","properties":{"x":{"$ref":"#/$defs/json"}},"$defs":{"json":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/json"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/json"}},{"type":"string"}]}}}',
      ),
    ).toEqual([])
    expect(
      prove(
        '{"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"string"}},"b":{"type":"array","uniqueItems":true,"maxItems":50}}}',
      ),
    ).toEqual([])
  })
  it('takes recursive schemas that reach values, draft-07, and patterns that are linear', () => {
    expect(prove('{"type":"object","properties":{"next":{"$ref":"#"},"tags":{"type":"array","items":{"pattern":"^(a|a)*$"}}}}')).toEqual([])
    expect(
      prove(
        '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}',
      ),
    ).toEqual([])
  })
  it('holds the examples against the schema, and says which and where', () => {
    expect(
      prove(
        '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}',
        '\nexamples:\n  - say: one\n    params: {n: 1}\n  - say: two\n    params: {n: two}',
      ),
    ).toEqual(['SKILL.md:9 examples[1].params does not satisfy input.schema.json: /n breaks the rule type (expected integer)'])
  })
})
