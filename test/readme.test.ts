import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { houseDir } from './support/read-house.ts'
import { withTables } from './support/readme-tables.ts'

const readme = readFileSync(join(houseDir, 'README.md'), 'utf8')

describe('the README', () => {
  it('has the tables that the code says (npm run docs writes them)', () => {
    expect(withTables(readme)).toBe(readme)
  })
  it('names no file and no script that is not there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? '')
    expect(links.filter((link) => !existsSync(join(houseDir, link)))).toEqual([])
    const paths = [...readme.matchAll(/`((?:packages|services|test|migrations|skills|docs)\/[^`*{<\s]*)`/g)].map((match) => match[1] ?? '')
    expect(paths.filter((path) => !existsSync(join(houseDir, path)))).toEqual([])
    const scripts = Object.keys(JSON.parse(readFileSync(join(houseDir, 'package.json'), 'utf8')).scripts)
    const named = [...readme.matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1] ?? '')
    expect(named.filter((script) => !scripts.includes(script))).toEqual([])
  })
})
