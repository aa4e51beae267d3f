import type postgres from 'postgres'

type Element = string | number | boolean | null

/** The types of arrays that are sent, by their fixed number in every Postgres. */
const arrayOids = { boolean: 1000, int: 1007, text: 1009, bigint: 1016, float: 1022, timestamp: 1185, numeric: 1231, uuid: 2951 } as const

/**
 * How arrays are sent. The driver would ask each new connection for this, and a connection that breaks while it asks ends the
 * whole process: nobody waits for that answer. So it is told beforehand, and arrays that are read come as Postgres writes them.
 */
export const arrayTypes: Readonly<Record<string, postgres.PostgresType>> = Object.fromEntries(
  Object.entries(arrayOids).map(([name, oid]) => [
    `${name}Array`,
    { to: oid, from: [oid], serialize: writeArray, parse: (text: string) => text },
  ]),
)

function writeArray(elements: readonly Element[] | string): string {
  // What is written as Postgres reads it already stays as it is.
  if (typeof elements === 'string') return elements
  return `{${elements.map((element) => (element === null ? 'NULL' : quote(String(element)))).join(',')}}`
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
