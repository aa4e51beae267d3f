import { RepertoireError, type Detail } from '@repertoire/sdk'
import { CommandError } from './command-error.ts'
import { safeJson, safeLine } from './safe-text.ts'

// The registry speaks of headers and routes; here these are the words that help.
const ownHints: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'check REPERTOIRE_KEY, REPERTOIRE_KEY_FILE or --key-file; an admin makes keys with repertoire keys create',
  SKILL_NOT_FOUND: 'repertoire list shows what there is for this key',
}
// A detail may carry a whole schema.
const longestPart = 300

/** Says an error to a person: the sentence, every detail, and what to do about it. Never a stack. */
export function explainError(error: unknown): string {
  if (!(error instanceof RepertoireError) && !(error instanceof CommandError)) {
    return `repertoire: this is a fault of the command line: ${safeLine(error instanceof Error ? `${error.name}: ${error.message}` : String(error))}\n  hint: run it again with the newest version; if it stays, report the sentence above\n`
  }
  // What stands in the details and in the hint would be read twice.
  const hintRepeats = error.details[0]?.message !== undefined && error.hint?.includes(error.details[0].message) === true
  const isRepeated = ({ reason, message, path, rule }: Detail): boolean =>
    reason !== undefined && (message ?? path ?? rule) === undefined && error.hint?.includes(reason) === true
  const details = error.details
    .filter((detail) => !isRepeated(detail))
    .map((detail) => `  ${explainDetail(detail)}\n`)
    .join('')
  const ownHint = ownHints[error.code] ?? error.hint
  const hint = ownHint === undefined || hintRepeats ? '' : `  hint: ${safeLine(ownHint)}\n`
  const call =
    error instanceof RepertoireError && error.meta?.call_id !== undefined
      ? `  call ${safeLine(error.meta.call_id)}${error.effect === 'none' ? '' : `; its effect: ${error.effect}`}\n`
      : ''
  return `repertoire: ${safeLine(error.message)} (${safeLine(error.code)})\n${details}${hint}${call}`
}

/** One detail on one line: where, what is wrong, and how to mend it. */
export function explainDetail(detail: Detail): string {
  const where =
    detail.file === undefined
      ? detail.path === undefined
        ? undefined
        : detail.path || '(the whole)'
      : `${detail.file}${detail.line === undefined ? '' : `:${detail.line}`}`
  const found = [
    // A whole schema is for programs, which get it with --json.
    detail.message?.startsWith('{') === true ? undefined : detail.message,
    detail.reason,
    detail.rule === undefined ? undefined : `rule ${detail.rule}`,
    detail.expected === undefined ? undefined : `expected ${detail.expected}`,
    detail.allowed === undefined || detail.allowed.length === 0
      ? undefined
      : `allowed ${detail.allowed.map((value) => JSON.stringify(value)).join(', ')}`,
    detail.got === undefined ? undefined : `got ${detail.got}`,
  ]
    .filter((part) => part !== undefined)
    .map((part) => (part.length > longestPart ? `${part.slice(0, longestPart)}…` : part))
  const fix = detail.fix ?? (detail.did_you_mean === undefined ? undefined : `did you mean ${detail.did_you_mean}?`)
  return safeLine(
    `${where === undefined ? '' : `${where}${detail.file === undefined ? ':' : ''} `}${found.join(', ')}${fix === undefined ? '' : ` → ${fix}`}`,
  )
}

/** An error as data for a script, under the key `error`. */
export function errorAsData(error: unknown): { readonly error: Record<string, unknown> } {
  if (error instanceof RepertoireError) {
    const { code, origin, effect, next, message, hint, details, status, meta } = error
    return {
      error: {
        code,
        origin,
        effect,
        next,
        message,
        ...(hint === undefined ? {} : { hint }),
        details,
        status,
        ...(meta === undefined ? {} : { meta }),
      },
    }
  }
  if (error instanceof CommandError)
    return {
      error: {
        code: error.code,
        origin: 'command',
        message: error.message,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        details: error.details,
      },
    }
  return { error: { code: 'BUG', origin: 'command', message: error instanceof Error ? error.message : String(error), details: [] } }
}

/** The same as a JSON text. */
export function errorAsJson(error: unknown): string {
  return `${safeJson(errorAsData(error))}\n`
}
