import { safeJson, safeLine } from './safe-text.ts'
import { errorWidth, outputWidth, writeErr, writeOut } from './terminal.ts'

/** How a command speaks: results on standard output, everything else on standard error. */
export type Printer = {
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** How many columns there are; undefined where nobody looks on. */
  readonly width: number | undefined
  /** The result: the data as JSON when that was asked for, else the text a person reads. */
  readonly result: (data: unknown, asText: () => string) => void
  /** A remark, which --quiet silences. */
  readonly note: (text: string) => void
  /** What has to be read before a question can be answered; for so many columns, on standard error, even with --quiet. */
  readonly show: (asText: (width: number | undefined) => string) => void
}

/** Makes a printer from the global options. */
export function createPrinter({
  json = false,
  quiet = false,
}: {
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
}): Printer {
  return {
    isJson: json,
    isQuiet: quiet,
    width: outputWidth(),
    result: (data, asText) => writeOut(json ? `${safeJson(data)}\n` : endLine(asText())),
    note: (text) => {
      if (!quiet) writeErr(`${safeLine(text)}\n`)
    },
    show: (asText) => writeErr(endLine(asText(errorWidth()))),
  }
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
