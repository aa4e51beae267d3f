import { errorCatalogue, settings } from '@repertoire/contract'

/** The tables of the README that are made from code, by the name of their place. */
export const readmeTables: Readonly<Record<string, () => string>> = {
  settings: () =>
    table(
      ['variable', 'read by', 'unless set', 'meaning'],
      settings.map((setting) => [`\`${setting.name}\``, readers[setting.by], setting.fallback, setting.meaning]),
    ),
  errors: () =>
    table(
      ['code', 'status', 'next', 'meaning'],
      Object.entries(errorCatalogue).map(([code, entry]) => [`\`${code}\``, String(entry.status), `\`${entry.next}\``, entry.meaning]),
    ),
}

const readers = { registry: 'registry', runner: 'runner', cli: 'command line', sdk: 'SDK, command line' } as const

/** Puts every table into its place, between `<!-- name -->` and `<!-- /name -->`. */
export function withTables(readme: string): string {
  return Object.entries(readmeTables).reduce((text, [name, write]) => {
    const place = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`)
    if (!place.test(text)) throw new Error(`the README has no place for ${name}`)
    return text.replace(place, (_, open: string, close: string) => `${open}${write()}\n${close}`)
  }, readme)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
