import { errorCatalogue } from '@repertoire/contract'
import { describe, expect, it } from 'vitest'
import { homes, rooms, type Room } from './support/import-table.ts'
import { readHouse, visit, type Import, type SourceFile } from './support/read-house.ts'

const house = readHouse()
const isTest = (path: string): boolean => /(\.test\.ts$|\/test\/|^test\/)/.test(path)
const sources = house.filter((file) => !isTest(file.path))

describe('the house', () => {
  it('has been read', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(house.flatMap((file) => file.imports).length).toBeGreaterThan(400)
  })
  it('holds no file that nobody placed', () => {
    expect(
      house.filter((file) => roomsOf(file.path).length !== 1).map((file) => `${file.path} is in ${roomsOf(file.path).length} rooms`),
    ).toEqual([])
  })
  it('imports only along the table', () => {
    expect(house.flatMap(forbiddenImports)).toEqual([])
  })
  it('has index files at the doors of packages alone', () => {
    expect(
      sources
        .filter((file) => file.path.endsWith('/index.ts') && !/^packages\/[^/]+\/src\/index\.ts$/.test(file.path))
        .map((file) => file.path),
    ).toEqual([])
  })
  it('exports one by one', () => {
    expect(sources.filter((file) => /^export \* /m.test(file.text)).map((file) => file.path)).toEqual([])
  })
  it('says in one sentence what each exported name is', () => {
    expect(sources.flatMap(undocumented)).toEqual([])
  })
  it('reads the environment, the clock and the network in their homes alone', () => {
    expect(sources.flatMap(strangersInHomes)).toEqual([])
  })
  it('appends an audit event wherever a verb opens a transaction', () => {
    const verbs = sources.filter((file) => /^services\/registry\/src\/(catalogue|calls|access|connections)\//.test(file.path))
    const writing = verbs.filter((file) => file.text.includes('store.transaction('))
    expect(writing.length).toBeGreaterThan(8)
    expect(writing.filter((file) => !audits(file, verbs)).map((file) => file.path)).toEqual([])
  })
  it('has a test that provokes each code of the catalogue', () => {
    const tests = house
      .filter((file) => file.path.endsWith('.test.ts') && file.path !== 'test/architecture.test.ts')
      .map((file) => file.text)
    expect(Object.keys(errorCatalogue).filter((code) => !tests.some((text) => text.includes(`'${code}'`)))).toEqual([])
  })
  it('raises no code that the catalogue lacks, and keeps none that nothing raises', () => {
    const text = sources
      .filter((file) => !file.path.startsWith('packages/contract/'))
      .map((file) => file.text)
      .join('\n')
    expect(Object.keys(errorCatalogue).filter((code) => !text.includes(`'${code}'`))).toEqual([])
  })
})

function roomsOf(path: string): Room[] {
  return rooms.filter((room) => room.holds.test(path))
}

function forbiddenImports(file: SourceFile): string[] {
  const room = roomsOf(file.path)[0]
  if (room === undefined) return []
  return file.imports.filter((found) => !isAllowed(room, found)).map((found) => `${file.path} (${room.name}) imports ${found.from}`)
}

function isAllowed(room: Room, found: Import): boolean {
  if (!found.isOurs) return room.packages.some((allowed) => matches(allowed, found.from))
  const target = roomsOf(found.from)[0]
  return target !== undefined && (target.name === room.name || room.rooms.some((allowed) => matches(allowed, target.name)))
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}

function undocumented(file: SourceFile): string[] {
  if (file.path.endsWith('/index.ts') || file.path === 'packages/contract/src/sdk.ts') return []
  const lines = file.text.split('\n')
  return lines.flatMap((line, index) => {
    const name = /^export (?:async )?(?:const|function\*?|class|type|interface) (\w+)/.exec(line)?.[1]
    if (name === undefined) return []
    // A shape and its type share one name, and one sentence.
    const isTwin = new RegExp(`^export type ${name} = z\\.`).test(line)
    const above = lines[index - 1] ?? ''
    return isTwin || above.endsWith('*/') ? [] : [`${file.path}:${index + 1} ${name}`]
  })
}

function strangersInHomes(file: SourceFile): string[] {
  const found: string[] = []
  const note = (home: keyof typeof homes, at: number): void => {
    if (!homes[home].some((place) => place.test(file.path))) found.push(`${file.path}:${file.text.slice(0, at).split('\n').length} ${home}`)
  }
  visit(file.program, (node) => {
    const callee = node['callee'] as { name?: string; object?: { name?: string }; property?: { name?: string } } | undefined
    if (
      node.type === 'MemberExpression' &&
      (node['object'] as { name?: string }).name === 'process' &&
      (node['property'] as { name?: string }).name === 'env'
    )
      note('environment', node.start)
    if (node.type === 'NewExpression' && callee?.name === 'Date' && (node['arguments'] as unknown[]).length === 0) note('clock', node.start)
    if (node.type === 'CallExpression' && callee?.object?.name === 'Date' && callee.property?.name === 'now') note('clock', node.start)
    if (node.type === 'CallExpression' && callee?.name === 'fetch') note('fetch', node.start)
  })
  return found
}

function audits(file: SourceFile, verbs: readonly SourceFile[]): boolean {
  if (file.text.includes('audit.append(')) return true
  const helpers = file.imports.flatMap((found) => verbs.filter((verb) => verb.path === found.from))
  return helpers.some((helper) => helper.text.includes('audit.append('))
}
