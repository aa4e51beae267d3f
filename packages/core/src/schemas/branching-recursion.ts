import { follow, type Refuse } from './references.ts'

type SchemaNode = Record<string, unknown>

/**
 * Refuses a union two of whose branches lead back to it for the same kind of value: each level of nesting would double the
 * work of validating, and a value of thirty levels would never be done. Branches of different types are fine: one applies.
 */
export function checkBranchingRecursion(root: SchemaNode, refuse: Refuse): void {
  const visited = new Set<unknown>()
  const visit = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== 'object' || node === null || visited.has(node)) return
    visited.add(node)
    for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
      const branches = (node as SchemaNode)[keyword]
      if (Array.isArray(branches) && doubles(root, node, branches)) {
        refuse(
          [...path, keyword],
          `two branches of this ${keyword} lead back to it for the same type, so that each level of nesting doubles the work`,
          'give the branches different types, or let one of them recurse',
        )
      }
    }
    for (const [key, value] of Object.entries(node)) visit(value, [...path, key])
  }
  visit(root, [])
}

function doubles(root: SchemaNode, union: object, branches: readonly unknown[]): boolean {
  const recursive = branches.filter((branch) => reaches(root, branch, union))
  return recursive.some((one, index) =>
    recursive.slice(index + 1).some((other) => mayBothApply(resolved(root, one), resolved(root, other))),
  )
}

function mayBothApply(one: unknown, other: unknown): boolean {
  const types = (node: unknown): unknown[] => (typeof node === 'object' && node !== null && 'type' in node ? [node.type].flat() : [])
  const [first, second] = [types(one), types(other)]
  return first.length === 0 || second.length === 0 || first.some((type) => second.includes(type))
}

function resolved(root: SchemaNode, node: unknown): unknown {
  const reference = typeof node === 'object' && node !== null && '$ref' in node ? node.$ref : undefined
  return typeof reference === 'string' && Object.keys(node as object).length === 1 ? follow(root, reference) : node
}

function reaches(root: SchemaNode, from: unknown, target: object): boolean {
  const seen = new Set<unknown>()
  const pending: unknown[] = [from]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (typeof at !== 'object' || at === null || seen.has(at)) continue
    if (at === target) return true
    seen.add(at)
    for (const [key, value] of Object.entries(at)) {
      if ((key === '$ref' || key === '$dynamicRef') && typeof value === 'string') pending.push(follow(root, value))
      else pending.push(value)
    }
  }
  return false
}
