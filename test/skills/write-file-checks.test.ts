import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let runner: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner()
})
afterAll(() => runner.close())

const checkOf = async (path: string, content: string): Promise<unknown> =>
  dataOf(await runner.call('write-file', { path, content }))['check']

describe('the syntax check of write-file', () => {
  it('says nothing about a language it does not know', async () => {
    expect(await checkOf('a.txt', '{')).toBeUndefined()
  })

  it('writes the file even when its syntax is wrong', async () => {
    expect(await checkOf('wrong.json', '{')).toMatchObject({ ok: false })
    expect(await readFile(join(runner.folder, 'workspace', 'wrong.json'), 'utf8')).toBe('{')
  })

  it.each([
    ['{"a": [1, -2.5e3, "\\u00e4", null]}\n', { ok: true }],
    ['{\n  "a": 1,\n}', { ok: false, line: 3, message: expect.stringContaining('a key in double quotes') }],
    ['{\n  "a": 1\n  "b": 2\n}', { ok: false, line: 3, message: expect.stringContaining('a comma') }],
    ["{\n'a': 1}", { ok: false, line: 2, message: 'JSON takes double quotes only' }],
    ['// why\n{}', { ok: false, line: 1, message: 'JSON takes no comments' }],
    ['[1, 2', { ok: false, line: 1, message: expect.stringContaining('the text ends') }],
  ])('parses JSON: %j', async (content, check) => {
    expect(await checkOf('a.json', content)).toEqual({ language: 'json', method: 'parse', ...check })
  })

  it.each([
    ['# a comment\na: "x: y" # z\nb:\n  - c: |\n      "never closed\n    d: [1, {e: f}]\n---\na: again\n', { ok: true }],
    ['a:\n\tb: 1\n', { ok: false, line: 2, message: expect.stringContaining('a tab') }],
    ['a: 1\nb: "never closed\nc: 2\n', { ok: false, line: 2, message: expect.stringContaining('never closed') }],
    ['a: [1, 2\nb: 3\n', { ok: false, line: 1, message: expect.stringContaining('never closed') }],
    ['a: 1\nb: 2\na: 3\n', { ok: false, line: 3, message: 'the key a stands twice at the top level' }],
    ['note: remember: quotes\n', { ok: false, line: 1, message: expect.stringContaining('a second colon') }],
    ['a: 1\n  b: 2\n', { ok: false, line: 2, message: expect.stringContaining('deeper') }],
    ['a: "x" y\n', { ok: false, line: 1, message: 'y stands after a closing quote' }],
  ])('looks for frequent mistakes in YAML, and calls that basic: %j', async (content, check) => {
    expect(await checkOf('a.yaml', content)).toEqual({ language: 'yaml', method: 'basic', ...check })
  })

  it.each([
    [
      'a.mjs',
      "import fs, { join as j } from 'node:path' // why\nexport default class {}\nexport { j }\nexport const there = import.meta.url\nawait j(`${fs}`)\n",
      { ok: true },
    ],
    ['a.js', "const a = require('a')\nif (a) return\nmodule.exports = /[/]'/\n", { ok: true }],
    ['a.js', '#!/usr/bin/env node\nexport * from "./b.js"\n', { ok: true }],
    ['a.mjs', 'const a = 1\nfunction f( {\n  return a\n}\n', { ok: false, line: 3 }],
    ['a.mjs', "import { a b } from 'c'\n", { ok: false, line: 1 }],
    ['a.js', 'let a = 1\n\nlet a = 2\nlet b = (\n', { ok: false, line: 3, message: expect.stringContaining('already been declared') }],
    ['a.js', 'f(1,\n  2\nconst x = 1\n', { ok: false, line: 3 }],
  ])('compiles JavaScript: %s %j', async (path, content, check) => {
    expect(await checkOf(path, content)).toMatchObject({ language: 'javascript', method: 'compile', ...check })
  })

  it('never runs what it compiles', async () => {
    expect(await checkOf('a.js', 'process.exit(1)\n')).toMatchObject({ ok: true })
    expect(await checkOf('a.js', '}); process.exit(1); (function () {\n')).toMatchObject({ ok: false })
    expect(await checkOf('a.mjs', 'throw new Error("it ran")\n')).toMatchObject({ ok: true })
  })

  it('keeps what was written when a check gives up', async () => {
    expect(dataOf(await runner.call('write-file', { path: 'deep.js', content: '['.repeat(200_000) }))).toMatchObject({
      bytes: 200_000,
      created: true,
    })
  })
})
