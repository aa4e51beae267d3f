/** Ids that were found, and the last row that was looked at, where more might have been found behind it. */
export type FoundIds = { readonly ids: readonly string[]; readonly lookedTo: string | undefined }
