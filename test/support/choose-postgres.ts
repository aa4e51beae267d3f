/** What was found on this machine. */
export type Found = { readonly url: string | undefined; readonly dockerAnswers: boolean; readonly imageIsThere: boolean }

/** Where tests get their Postgres from. It is a real one in every case. */
export type PostgresChoice =
  | { readonly kind: 'given'; readonly url: string }
  | { readonly kind: 'container' }
  | { readonly kind: 'embedded' }

/** A given database first, then a container where an engine and the image are there, else the packaged binaries. */
export function choosePostgres({ url, dockerAnswers, imageIsThere }: Found): PostgresChoice {
  if (url !== undefined && url !== '') return { kind: 'given', url }
  return dockerAnswers && imageIsThere ? { kind: 'container' } : { kind: 'embedded' }
}
