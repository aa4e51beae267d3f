import type postgres from 'postgres'

/** The expression under which the text of inputs is indexed; bytes that are no text have one too. */
export const searchedText = (column: string): string => `encode(${column}, 'escape')`

/**
 * Makes the days that are over searchable by any part of an input's text; today's is written to too often. Built beside what
 * reads and writes; one that was left half-built is built again. Without the extension nothing is made.
 */
export async function indexClosedDays(sql: postgres.Sql): Promise<string[]> {
  const [extension] = await sql`select 1 from pg_extension where extname = 'pg_trgm'`
  if (extension === undefined) return []
  const days = await sql<{ part: string; isHalf: boolean }[]>`
    select c.relname as part, x.indexrelid is not null as "isHalf"
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    left join pg_index x on x.indrelid = c.oid and x.indexrelid = to_regclass(quote_ident(c.relname || '_text'))
    where i.inhparent = 'call_payloads'::regclass and c.relname ~ '^call_payloads_\\d{8}$' and right(c.relname, 8) < to_char((now() - interval '1 hour') at time zone 'UTC', 'YYYYMMDD')
      and (x.indexrelid is null or not x.indisvalid)
    order by 1 desc`
  for (const { part, isHalf } of days) {
    if (isHalf) await sql`drop index concurrently ${sql(`${part}_text`)}`
    await sql.unsafe(`create index concurrently "${part}_text" on "${part}" using gin (${searchedText('input')} gin_trgm_ops)`)
  }
  return days.map(({ part }) => part)
}
