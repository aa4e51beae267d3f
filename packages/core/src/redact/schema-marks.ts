import { RE2JS } from 're2js'
import { follow } from '../schemas/references.ts'
import type { RedactAction } from './policy.ts'

/** What a schema says of a place in a value, and of the places inside it; undefined where it says nothing. */
export type Marks = {
  readonly action: RedactAction | undefined
  readonly member: (name: string) => Marks | undefined
  readonly item: (index: number) => Marks | undefined
}

type SchemaNode = Readonly<Record<string, unknown>>

const inPlaceLists = ['allOf', 'anyOf', 'oneOf'] as const
const inPlace = ['if', 'then', 'else', 'not'] as const
const maxRemembered = 1000

// Skills come and go, and their schemas with them.
const maxKept = 2000
const kept = new Map<string, Marks | undefined>()

/** What a schema given as text marks; each text is read once. */
export function marksFor(schemaText: string): Marks | undefined {
  if (kept.has(schemaText)) return kept.get(schemaText)
  const marks = readMarks(schemaText)
  const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined
  if (oldest !== undefined) kept.delete(oldest)
  kept.set(schemaText, marks)
  return marks
}

/**
 * Reads where a schema marks values as secret: `writeOnly`, `format: password`, `x-sensitive`, at any depth and whatever branch
 * would apply. Undefined when it marks nothing. Places are worked out once and remembered, so that recursive schemas end.
 */
function readMarks(schemaText: string): Marks | undefined {
  if (!/writeOnly|x-sensitive|"password"|\\u/.test(schemaText)) return undefined
  const root = JSON.parse(schemaText) as unknown
  const ids = new Map<SchemaNode, number>()
  const places = new Map<string, Marks | undefined>()
  const patterns = new Map<string, RE2JS>()

  const placeOf = (seeds: readonly unknown[]): Marks | undefined => {
    const nodes = applying(root, seeds)
    if (nodes.length === 0) return undefined
    const key = nodes.map((node) => ids.get(node) ?? (ids.set(node, ids.size), ids.size - 1)).join(' ')
    return remember(places, key, () => makePlace(nodes))
  }
  const makePlace = (nodes: readonly SchemaNode[]): Marks => {
    const members = new Map<string, Marks | undefined>()
    const items = new Map<string, Marks | undefined>()
    const listed = Math.max(...nodes.map((node) => listOf(node).length))
    return {
      action: strictest(nodes),
      member: (name) => remember(members, name, () => placeOf(nodes.flatMap((node) => schemasOfMember(node, name, matches)))),
      item: (index) => {
        const place = Math.min(index, listed)
        return remember(items, String(place), () => placeOf(nodes.flatMap((node) => schemasOfItem(node, place))))
      },
    }
  }
  const matches = (pattern: string, name: string): boolean =>
    remember(patterns, pattern, () => RE2JS.compile(RE2JS.translateRegExp(pattern)))
      .matcher(name)
      .find()
  return placeOf([root])
}

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key)
  if (found !== undefined || known.has(key)) return found as T
  const made = make()
  // Names come from callers, so what is remembered of them is bounded.
  if (known.size < maxRemembered) known.set(key, made)
  return made
}

/** The schemas that apply to one value together: the given ones, and what they refer to and combine. */
function applying(root: unknown, seeds: readonly unknown[]): SchemaNode[] {
  const found = new Set<SchemaNode>()
  const pending = [...seeds]
  while (pending.length > 0) {
    const node = pending.pop()
    if (!isNode(node) || found.has(node)) continue
    found.add(node)
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = node[keyword]
      if (typeof reference === 'string') pending.push(follow(root, reference))
    }
    for (const keyword of inPlaceLists) if (Array.isArray(node[keyword])) pending.push(...(node[keyword] as unknown[]))
    for (const keyword of inPlace) pending.push(node[keyword])
    for (const keyword of ['dependentSchemas', 'dependencies']) pending.push(...valuesOf(node[keyword]))
  }
  return [...found]
}

function schemasOfMember(node: SchemaNode, name: string, matches: (pattern: string, name: string) => boolean): unknown[] {
  const { properties, patternProperties } = node
  const own = isNode(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
  const byPattern = isNode(patternProperties)
    ? Object.entries(patternProperties).flatMap(([pattern, schema]) => (matches(pattern, name) ? [schema] : []))
    : []
  const named = [...own, ...byPattern]
  return named.length > 0 ? named : [node['additionalProperties'], node['unevaluatedProperties']]
}

function schemasOfItem(node: SchemaNode, index: number): unknown[] {
  const list = listOf(node)
  const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items']
  return [...(index < list.length ? [list[index]] : [rest, node['unevaluatedItems']]), node['contains']]
}

function listOf({ prefixItems, items }: SchemaNode): readonly unknown[] {
  return Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
}

function strictest(nodes: readonly SchemaNode[]): RedactAction | undefined {
  const actions = nodes.map(actionOf)
  return (['drop', 'redact', 'hash'] as const).find((action) => actions.includes(action))
}

function actionOf(node: SchemaNode): RedactAction | undefined {
  const marked = node['x-sensitive']
  if (marked === 'drop' || marked === 'hash') return marked
  // A word nobody knows was meant to hide something.
  const isMarked = marked !== undefined && marked !== false && marked !== null
  return isMarked || node['writeOnly'] === true || node['format'] === 'password' ? 'redact' : undefined
}

function valuesOf(value: unknown): unknown[] {
  return isNode(value) ? Object.values(value) : []
}

function isNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
