import type { Repertoire } from '@repertoire/sdk'

/** A list as the registry answers it. */
export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null }

const maxPages = 1000

/** All pages of a list, as one. */
export async function readAllPages<T>(
  registry: Repertoire,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Page<T>> {
  const items: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { data } = await registry.transport.send<Page<T>>('GET', path, { query: { ...query, cursor } })
    items.push(...data.items)
    if (data.next_cursor === null) break
    cursor = data.next_cursor
  }
  return { items, next_cursor: null }
}
