import { InvalidArgumentError } from 'commander'

/** Reads an option that is a whole number of at least `min`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(
        max === Number.MAX_SAFE_INTEGER ? `It is a whole number from ${min} on.` : `It is a whole number from ${min} to ${max}.`,
      )
    return value
  }
}

/** Reads why something is done; the registry keeps it and takes no less than eight characters. */
export function reason(text: string): string {
  if (text.trim().length < 8) throw new InvalidArgumentError('It has at least 8 characters: say why, for whoever reads the audit log.')
  return text
}

/** Collects an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a span of time such as `90s`, `15m`, `1h` or `7d`, in milliseconds. */
export function span(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text)
  const unit = unitMs[match?.[2] ?? '']
  if (match === null || unit === undefined) throw new InvalidArgumentError('It is a span such as 90s, 15m, 1h or 7d.')
  return Number(match[1]) * unit
}

/** Reads a moment as RFC 3339; a date alone is its first moment in UTC. */
export function moment(text: string): string {
  const isWritten = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const parsed = new Date(text)
  if (!isWritten || Number.isNaN(parsed.getTime()))
    throw new InvalidArgumentError('It is a time such as 2026-03-01 or 2026-03-01T12:00:00Z.')
  return parsed.toISOString()
}
