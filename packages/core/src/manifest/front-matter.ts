import { limits } from '@repertoire/contract'
import { findUnsafeCharacter } from './text-safety.ts'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type Pair, type ParsedNode } from 'yaml'

/** A value of the front matter and the line it stands on. */
export type Located = { readonly value: unknown; readonly line: number; readonly children: ReadonlyMap<string, Located> }

/** The front matter by key, the instructions after it, and what is wrong with it. Lines count from 1. */
export type FrontMatter = { readonly root: Located; readonly body: string; readonly problems: readonly FrontMatterProblem[] }

/** Something the front matter may not contain. */
export type FrontMatterProblem = { readonly line: number; readonly message: string; readonly fix: string }

const maxDepth = 16
const reserved = new Set(['__proto__', 'constructor', 'prototype'])
const empty: Located = { value: {}, line: 1, children: new Map() }

/** Splits SKILL.md into front matter and instructions, and reads the front matter with every scalar as it is written. */
export function readFrontMatter(text: string): FrontMatter {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  const opening = /^---[ \t]*\r?\n/.exec(source)
  if (opening === null)
    return fail(source, {
      line: 1,
      message: 'SKILL.md does not start with front matter',
      fix: 'begin the file with a line --- followed by name: and description:',
    })
  const rest = source.slice(opening[0].length)
  const closing = /^---[ \t]*(?:\r?\n|$)/m.exec(rest)
  if (closing === null)
    return fail(source, { line: 1, message: 'the front matter is not closed', fix: 'put a line --- after the last key' })
  const yaml = rest.slice(0, closing.index)
  const body = rest.slice(closing.index + closing[0].length)
  if (Buffer.byteLength(yaml) > limits.frontMatterBytes)
    return fail(body, {
      line: 1,
      message: `the front matter is larger than ${limits.frontMatterBytes} bytes`,
      fix: 'move text into the instructions below it',
    })
  return readYaml(yaml, body)
}

function readYaml(yaml: string, body: string): FrontMatter {
  const lines = new LineCounter()
  const document = parseBounded(yaml, lines)
  if (document === undefined)
    return fail(body, { line: 2, message: `the front matter is nested deeper than ${maxDepth}`, fix: 'flatten it' })
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1
  const problems: FrontMatterProblem[] = document.errors.map((error) => {
    const position = lines.linePos(error.pos[0])
    return {
      line: position.line + 1,
      message: `YAML: ${error.message.split('\n')[0] ?? 'it does not parse'} (column ${position.col})`,
      fix: yamlFix(error.code),
    }
  })
  if (problems.length > 0) return { root: empty, body, problems }
  if (!isMap(document.contents))
    return fail(body, { line: 2, message: 'the front matter is not a list of keys', fix: 'write name: and description:, one a line' })
  const root = locate(document.contents, { lineAt, problems, path: [] })
  return { root, body, problems }
}

// The parser recurses; a text of nothing but brackets ends in a RangeError, which is an answer too.
function parseBounded(yaml: string, lineCounter: LineCounter): ReturnType<typeof parseDocument> | undefined {
  try {
    return parseDocument(yaml, { schema: 'failsafe', lineCounter, uniqueKeys: true, prettyErrors: false, logLevel: 'silent' })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

type Walk = { readonly lineAt: (offset: number) => number; readonly problems: FrontMatterProblem[]; readonly path: readonly string[] }

function locate(node: Node | null, walk: Walk): Located {
  const line = walk.lineAt((node as ParsedNode | null)?.range?.[0] ?? 0)
  const children = new Map<string, Located>()
  if (node === null) return { value: '', line, children }
  if (walk.path.length > maxDepth) {
    walk.problems.push({ line, message: `the front matter is nested deeper than ${maxDepth}`, fix: 'flatten it' })
    return { value: '', line, children }
  }
  if (isAlias(node) || ('anchor' in node && node.anchor !== undefined))
    walk.problems.push({ line, message: 'anchors and aliases are not taken', fix: 'write the value out where it is used' })
  if (node.tag !== undefined && !/^tag:yaml\.org,2002:(str|map|seq)$/.test(node.tag))
    walk.problems.push({ line, message: `the YAML tag ${node.tag} is not taken`, fix: 'remove the tag' })
  if (isScalar(node)) {
    refuseHidden(node.value, line, walk.problems)
    return { value: scalarValue(node.value, node.type, walk.path), line, children }
  }
  if (isSeq(node)) {
    const items = node.items.map((item, index) => {
      const child = locate(item as Node, { ...walk, path: [...walk.path, String(index)] })
      children.set(String(index), child)
      return child.value
    })
    return { value: items, line, children }
  }
  if (!isMap(node)) return { value: '', line, children }
  const value: Record<string, unknown> = {}
  for (const pair of node.items as Pair<Node, Node | null>[]) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    const keyLine = walk.lineAt((pair.key as ParsedNode).range[0])
    refuseHidden(key, keyLine, walk.problems)
    if (reserved.has(key)) {
      walk.problems.push({ line: keyLine, message: `the key ${key} is not taken`, fix: 'choose another name' })
      continue
    }
    const child = locate(pair.value, { ...walk, path: [...walk.path, key] })
    children.set(key, { ...child, line: keyLine })
    value[key] = child.value
  }
  return { value, line, children }
}

// An escape such as "\u202e" hides from a look at the file what the model will read.
function refuseHidden(value: unknown, line: number, problems: FrontMatterProblem[]): void {
  const unsafe = typeof value === 'string' ? findUnsafeCharacter(value) : undefined
  if (unsafe !== undefined) problems.push({ line, message: `it contains ${unsafe.codePoint}, ${unsafe.what}`, fix: 'remove the character' })
}

// Arguments and results are JSON values; everything else stays the text its author wrote, so that 1.10 stays 1.10.
function scalarValue(value: unknown, type: string | undefined, path: readonly string[]): unknown {
  const isTyped = path[0] === 'examples' && (path[2] === 'params' || path[2] === 'result')
  if (!isTyped || type !== 'PLAIN' || typeof value !== 'string') return value
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === 'null' || value === '~' || value === '') return null
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) ? Number(value) : value
}

function yamlFix(code: string): string {
  if (code === 'DUPLICATE_KEY') return 'keep one of the two keys'
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'UNEXPECTED_TOKEN' || code === 'MULTILINE_IMPLICIT_KEY')
    return 'put the value in double quotes: it contains a colon or another character that YAML reads as its own'
  if (code === 'TAB_AS_INDENT') return 'indent with spaces'
  return 'correct the YAML at this place; quoting the value often helps'
}

function fail(body: string, problem: FrontMatterProblem): FrontMatter {
  return { root: empty, body, problems: [problem] }
}
