import { Option, type Command } from 'commander'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { addFilters, addWindow, filtersQuery, windowQuery, type CallFilters, type CallWindow } from '../call-filters.ts'
import { CommandError } from '../command-error.ts'
import { withContext, type Context } from '../context.ts'
import { examples } from '../examples.ts'
import { readExport } from '../read-export.ts'
import { safeBlock } from '../safe-text.ts'
import { outputWidth, writeErr, writeOutWhole } from '../terminal.ts'

type Options = CallFilters & CallWindow & { readonly format: 'ndjson' | 'csv'; readonly output?: string }

const tellEveryMs = 2000

/** Adds `repertoire export`. */
export function addExport(program: Command): void {
  const command = program
    .command('export')
    .summary('calls as NDJSON or CSV, to a file or on standard output')
    .description(
      'Exports calls of a window, oldest first: the last 24 hours unless told, at most 90 days. It fails when the export broke off; a file gets its name once it is whole.',
    )
  addWindow(addFilters(command))
    .addOption(new Option('--format <format>', 'how a row is written').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText(
      'after',
      examples(
        'repertoire export --since 7d --output calls.ndjson',
        'repertoire export --from 2026-03-01 --to 2026-04-01 --skill query-order --format csv --output march.csv',
      ),
    )
    .action(withContext(async (context, _: [], options: Options) => exportTo(context, options)))
}

async function exportTo({ print, registry }: Context, { format, output, ...options }: Options): Promise<void> {
  const { text } = await registry().transport.open('/v1/calls/export', {
    query: { ...filtersQuery(options), ...windowQuery(options, Date.now()), format },
  })
  const part = output === undefined ? undefined : `${output}.part`
  const file: FileHandle | undefined = part === undefined ? undefined : await open(part, 'w', 0o600)
  let [bytes, toldAt] = [0, performance.now()]
  const write = async (piece: string): Promise<void> => {
    bytes += Buffer.byteLength(piece)
    // What a terminal shows must not steer it; a file and a pipe get it as it is.
    if (file === undefined) await writeOutWhole(outputWidth() === undefined ? piece : safeBlock(piece))
    else await file.write(piece)
    if (print.isQuiet || performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    writeErr(`${sayBytes(bytes)} exported\n`)
  }
  try {
    const end = await readExport(text, format, write)
    if (!end.complete)
      throw new CommandError({
        exit: 'unavailable',
        code: end.code ?? 'BROKEN_OFF',
        message: `The export broke off after ${end.rows ?? 'some'} rows.`,
        hint: output === undefined ? 'ask again' : `what came is in ${output}.part; ask again`,
      })
    await file?.sync()
    if (part !== undefined && output !== undefined) await rename(part, output)
    print.note(`${end.rows ?? 0} rows, ${sayBytes(bytes)}`)
  } finally {
    await file?.close()
  }
}

function sayBytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
