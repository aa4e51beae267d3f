import { limits, type Finding } from '@repertoire/contract'
import { RE2JS } from 're2js'
import { scanJson } from '../json/scan.ts'
import { findSuspiciousWording, findUnsafeCharacter } from '../manifest/text-safety.ts'
import { lineOfJsonError, lineOfPath } from './locate.ts'
import { checkBranchingRecursion } from './branching-recursion.ts'
import { checkReferences, type Refuse } from './references.ts'

/** A JSON Schema that passed every check that needs no compiler. */
export type CheckedSchema = { readonly schema: Record<string, unknown> | undefined; readonly findings: readonly Finding[] }

const reserved = new Set(['__proto__', 'constructor', 'prototype'])
const maxDepth = 32
const maxProperties = 1000
const dialects = ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema']

/** Reads a schema file and refuses what would let one skill slow down, deceive or reach beyond itself. */
export function checkSchema(file: string, bytes: Uint8Array): CheckedSchema {
  const findings: Finding[] = []
  const text = new TextDecoder('utf-8', { ignoreBOM: false }).decode(bytes)
  const refuse = (path: readonly string[], message: string, fix: string): number =>
    findings.push({ level: 'error', file, line: lineOfPath(text, path), message, fix })
  if (bytes.byteLength > limits.schemaBytes)
    return only({
      file,
      line: null,
      message: `the schema is larger than ${limits.schemaBytes} bytes`,
      fix: 'split the skill, or shorten the schema',
    })
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch (error) {
    return only({
      file,
      line: lineOfJsonError(text, error),
      message: `it is not JSON: ${error instanceof Error ? error.message : 'unknown'}`,
      fix: 'correct the JSON',
    })
  }
  const scanned = scanJson(text, limits.jsonDepth)
  if (scanned !== undefined) refuse(scanned.path.split('/').slice(1), scanned.message, scanned.fix)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return only({ file, line: 1, message: 'the root of a schema is an object', fix: 'write {"type": "object", "properties": {…}}' })
  const root = schema as Record<string, unknown>
  if (root['type'] !== 'object') refuse(['type'], 'the root type is not object', 'write "type": "object" at the root')
  const dialect = root['$schema']
  if (dialect !== undefined && !dialects.some((known) => String(dialect).replace(/#$/, '') === known))
    refuse(['$schema'], `the dialect ${String(dialect)} is not taken`, `use ${dialects[0]}, or leave $schema out`)
  const walk: Walk = {
    root,
    refuse,
    warn: (path, message) => findings.push({ level: 'warning', file, line: lineOfPath(text, path), message, fix: null }),
    count: { properties: 0 },
  }
  visit(root, [], walk)
  if (walk.count.properties > maxProperties)
    refuse([], `the schema declares ${walk.count.properties} properties`, `keep it to ${maxProperties}`)
  if (findings.every((finding) => finding.level !== 'error')) checkReferences(root, refuse)
  if (findings.every((finding) => finding.level !== 'error')) checkBranchingRecursion(root, refuse)
  return { schema: findings.some((finding) => finding.level === 'error') ? undefined : root, findings }
}

type Walk = {
  readonly root: Record<string, unknown>
  readonly refuse: Refuse
  readonly warn: (path: readonly string[], message: string) => unknown
  readonly count: { properties: number }
}

function visit(node: unknown, path: readonly string[], walk: Walk): void {
  if (path.length > maxDepth * 2) {
    walk.refuse(path.slice(0, 4), `the schema is nested deeper than ${maxDepth}`, 'flatten it, or use $defs')
    return
  }
  if (Array.isArray(node)) return node.forEach((item, index) => visit(item, [...path, String(index)], walk))
  if (typeof node !== 'object' || node === null) {
    if (typeof node === 'string') checkText(node, path, walk)
    return
  }
  const parent = path.at(-1)
  const isNameMap =
    parent === 'properties' ||
    parent === '$defs' ||
    parent === 'definitions' ||
    parent === 'dependentSchemas' ||
    parent === 'patternProperties'
  if (parent === 'properties') walk.count.properties += Object.keys(node).length
  for (const [key, value] of Object.entries(node)) {
    const here = [...path, key]
    if (reserved.has(key)) walk.refuse(here, `the name ${key} is not taken in a schema`, 'choose another name')
    if (parent === 'patternProperties') checkPattern(key, here, walk)
    if (!isNameMap) checkKeyword({ key, value, parent: node as Record<string, unknown> }, here, walk)
    if (key === 'enum' || key === 'const' || key === 'default' || key === 'examples') continue
    visit(value, here, walk)
  }
}

function checkKeyword(
  { key, value, parent }: { readonly key: string; readonly value: unknown; readonly parent: Record<string, unknown> },
  path: readonly string[],
  walk: Walk,
): void {
  if (key === '$async') walk.refuse(path, '$async schemas are not taken: their validation answers with a promise', 'remove $async')
  if ((key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#'))
    walk.refuse(path, `the reference ${value.slice(0, 80)} leaves the schema`, 'copy what it names into $defs and refer to #/$defs/…')
  if (key === '$id' && path.length > 1) walk.refuse(path, 'a nested $id changes what references mean', 'remove it')
  if (key === 'uniqueItems' && value === true && !comparesQuickly(parent))
    walk.refuse(
      path,
      'comparing all items with each other takes time that grows with their square',
      'name a plain type for items, or add maxItems (at most 1000)',
    )
  if (key === 'pattern' && typeof value === 'string') checkPattern(value, path, walk)
  if (key === 'description' && typeof value === 'string') {
    const suspicious = findSuspiciousWording(value)
    if (suspicious !== undefined) walk.warn(path, `the description wants a second look: ${suspicious}`)
  }
}

// Plain items are compared by a table; arrays and objects each with each.
function comparesQuickly({ items, maxItems }: Record<string, unknown>): boolean {
  if (typeof maxItems === 'number' && maxItems <= 1000) return true
  const type = typeof items === 'object' && items !== null && 'type' in items ? [items.type].flat() : []
  return type.length > 0 && !type.includes('object') && !type.includes('array')
}

function checkPattern(pattern: string, path: readonly string[], walk: Walk): void {
  try {
    RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    walk.refuse(
      path,
      `the pattern ${pattern.slice(0, 80)} is not one that runs in linear time (RE2)`,
      'write it without look-around and back-references',
    )
  }
}

function checkText(text: string, path: readonly string[], walk: Walk): void {
  const unsafe = findUnsafeCharacter(text)
  if (unsafe !== undefined) walk.refuse(path, `it contains ${unsafe.codePoint}, ${unsafe.what}`, 'remove the character')
}

function only(finding: Omit<Finding, 'level'>): CheckedSchema {
  return { schema: undefined, findings: [{ level: 'error', ...finding }] }
}
