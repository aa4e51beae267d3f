/** Records an error at a path of the schema, with its fix. */
export type Refuse = (path: readonly string[], message: string, fix: string) => unknown

const maxFanOut = 10_000

/** Refuses references to nothing, cycles made of references alone, and doubling that makes one validation take seconds. */
export function checkReferences(root: Record<string, unknown>, refuse: Refuse): void {
  const costs = new Map<unknown, number>()
  const open = new Set<unknown>()
  const costOf = (node: unknown, path: readonly string[], viaRef: boolean): number => {
    if (typeof node !== 'object' || node === null) return 1
    const known = costs.get(node)
    if (known !== undefined) return known
    if (open.has(node)) {
      if (viaRef && isPureReference(node))
        refuse(path, 'the references form a cycle that never reaches a value', 'let one of them name a type')
      return 1
    }
    open.add(node)
    let cost = 1
    for (const [key, value] of Object.entries(node)) {
      const here = [...path, key]
      if (key === '$ref' && typeof value === 'string') {
        const target = follow(root, value)
        if (target === undefined) refuse(here, `the reference ${value.slice(0, 80)} leads nowhere`, 'define it under $defs')
        cost += costOf(target, here, true)
      } else if (key === '$defs' || key === 'definitions') {
        for (const definition of Object.values((value ?? {}) as object)) costOf(definition, here, false)
      } else cost += costOf(value, here, false)
      if (cost > maxFanOut) break
    }
    open.delete(node)
    costs.set(node, cost)
    return cost
  }
  if (costOf(root, [], false) > maxFanOut)
    refuse(
      [],
      `validating this schema may take more than ${maxFanOut} steps, since its references multiply`,
      'refer to each definition fewer times',
    )
}

function isPureReference(node: object): boolean {
  return '$ref' in node && !('type' in node) && !('properties' in node) && !('items' in node)
}

/** The part of a schema a local reference names; undefined when there is none. */
export function follow(root: unknown, reference: string): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return findAnchor(root, reference.slice(1))
  let at: unknown = root
  for (const raw of reference.slice(2).split('/')) {
    const segment = decodeURIComponent(raw).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined
    at = (at as Record<string, unknown>)[segment]
  }
  return at
}

function findAnchor(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null) return undefined
  if ('$anchor' in node && node.$anchor === name) return node
  if ('$dynamicAnchor' in node && node.$dynamicAnchor === name) return node
  for (const value of Object.values(node)) {
    const found = findAnchor(value, name)
    if (found !== undefined) return found
  }
  return undefined
}
