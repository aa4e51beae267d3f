/** Ids that were found, and the last row that was looked at, where more might have been found behind it. */
export type FoundIds = { readonly ids: readonly string[]; readonly lookedTo: string | undefined }

/**
 * Where to go on behind what was looked at and found. The two are asked for one after the other, and what is written between
 * them makes the place lie before what was found: it would be found again.
 */
export function goOnBehind(
  lookedTo: string | undefined,
  { ids, isOldestFirst }: { readonly ids: readonly string[]; readonly isOldestFirst: boolean | undefined },
): string | undefined {
  const found = ids.at(-1)
  if (lookedTo === undefined || found === undefined) return lookedTo
  return isOldestFirst === true ? (found > lookedTo ? found : lookedTo) : found < lookedTo ? found : lookedTo
}
