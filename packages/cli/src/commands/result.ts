import type { Repertoire } from '@repertoire/sdk'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { followResult, readPart } from '../follow-result.ts'
import { safeBlock, safeJson, safeJsonText } from '../safe-text.ts'
import { writeFileOf, writePieces } from '../write-pieces.ts'

type ResultOptions = { readonly items?: string; readonly lines?: string; readonly out?: string }

/** Adds `repertoire result`. */
export function addResult(program: Command): void {
  program
    .command('result')
    .summary('the whole result of a call that was cut or ran in the background')
    .description(
      'Prints the whole result of an own call, as its exact JSON text, or some of its items or lines. It is kept for a day, and only for the agent that called.',
    )
    .argument('<call>', 'the call, by its id')
    .option('--items <first-last>', 'these items of an array, counted from 0', span)
    .addOption(new Option('--lines <first-last>', 'these lines of a text, counted from 0').argParser(span).conflicts('items'))
    .option('--out <file>', 'write it to a file, which has its name once it is whole')
    .addHelpText(
      'after',
      examples(
        'repertoire result 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90 --out orders.json',
        'repertoire result 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90 --items 0-99',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string], options: ResultOptions) => {
        const { out } = options
        // Whoever asks for JSON gets it also where the text of some lines would do.
        const pieces = textOf(registry(), id, { ...options, isJson: print.isJson })
        if (out === undefined) return writePieces(print.width === undefined ? pieces : madeSafe(pieces, options.lines !== undefined))
        const bytes = await writeFileOf(out, pieces)
        if (print.isJson) print.result({ call_id: id, file: out, bytes }, () => '')
        else print.note(`${bytes} bytes are in ${out}`)
      }),
    )
}

async function* textOf(
  registry: Repertoire,
  id: string,
  { items, lines, isJson }: ResultOptions & { readonly isJson: boolean },
): AsyncGenerator<string> {
  if (items === undefined && lines === undefined) return yield* followResult(registry, id)
  const part = await readPart(registry, id, { items, lines })
  if (lines === undefined || isJson) yield `${safeJson(part.items ?? part.lines)}\n`
  else for (const line of part.lines ?? []) yield `${line}\n`
}

// What goes to a file or to another program stays exactly as it is; a terminal must not be steered by it.
async function* madeSafe(pieces: AsyncIterable<string>, isText: boolean): AsyncGenerator<string> {
  for await (const piece of pieces) yield isText ? safeBlock(piece) : safeJsonText(piece)
  if (!isText) yield '\n'
}

function span(text: string): string {
  const [first, last] = text.split('-').map(Number)
  if (!/^\d{1,9}-\d{1,9}$/.test(text) || (first ?? 0) > (last ?? 0))
    throw new InvalidArgumentError('It is the first and the last one, such as 0-99.')
  return text
}
