import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

/** The top of the checkout. */
export const houseDir = fileURLToPath(new URL('../..', import.meta.url))

/** One source file: its path from the top, its text, what it imports, and its syntax tree. */
export type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly Import[]; readonly program: Node }

/** One import: a file of ours by its path from the top, or a package by its name. */
export type Import = { readonly from: string; readonly isOurs: boolean }

/** A node of a syntax tree. */
export type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

const roots = ['packages', 'services', 'test']
const skipped = new Set(['node_modules', 'dist', 'harness', 'bin', '.turbo'])

/** Every TypeScript file of the house, read with a real parser. */
export function readHouse(): SourceFile[] {
  return roots.flatMap((root) => filesBelow(join(houseDir, root))).map(readSource)
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (skipped.has(entry.name)) return []
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.name.endsWith('.ts') ? [path] : []
  })
}

function readSource(file: string): SourceFile {
  const text = readFileSync(file, 'utf8')
  const path = relative(houseDir, file).split(sep).join('/')
  const parsed = parseSync(file, text)
  if (parsed.errors.length > 0) throw new Error(`${path} does not parse: ${parsed.errors[0]?.message}`)
  const requested = [
    ...parsed.module.staticImports.map((found) => found.moduleRequest.value),
    ...parsed.module.staticExports.flatMap((found) =>
      found.entries.flatMap((entry) => (entry.moduleRequest === null ? [] : [entry.moduleRequest.value])),
    ),
    // An import of something computed at run time names no module that could be looked up here.
    ...parsed.module.dynamicImports
      .map((found) => text.slice(found.moduleRequest.start, found.moduleRequest.end))
      .filter((request) => /^['"]/.test(request))
      .map((request) => request.slice(1, -1)),
  ]
  return { path, text, program: parsed.program as unknown as Node, imports: [...new Set(requested)].map((from) => toImport(file, from)) }
}

function toImport(file: string, from: string): Import {
  if (!from.startsWith('.')) return { from, isOurs: false }
  return {
    from: relative(houseDir, resolve(dirname(file), from))
      .split(sep)
      .join('/'),
    isOurs: true,
  }
}

/** Visits every node of a tree, parents first. */
export function visit(node: unknown, enter: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  if (Array.isArray(node)) return node.forEach((item) => visit(item, enter, parent))
  if (typeof node !== 'object' || node === null || !('type' in node)) return
  const found = node as Node
  enter(found, parent)
  for (const value of Object.values(found)) if (typeof value === 'object') visit(value, enter, found)
}
