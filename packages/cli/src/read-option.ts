import { limits } from '@repertoire/contract/sdk'
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

/** Reads a percentage from 0 to 100 with at most two decimals; its sign may stand behind it. */
export function percent(text: string): number {
  const digits = /^(\d{1,3}(?:\.\d{1,2})?)%?$/.exec(text)?.[1]
  if (digits === undefined || Number(digits) > 100)
    throw new InvalidArgumentError('It is a percentage from 0 to 100 with at most two decimals, such as 5 or 0.25.')
  return Number(digits)
}

/** One step of a canary: the share it exposes, and how long that stays. */
export type Step = { readonly percent: number; readonly dwell: string }

/** Reads one `--step` such as `25:1h` and adds it to those before; the last one needs no time. */
export function step(text: string, before: readonly Step[] = []): Step[] {
  const [share = '', dwell = '0s', ...more] = text.split(':')
  if (more.length > 0 || share === '') throw new InvalidArgumentError('It is a percentage and how long it stays, such as 25:1h.')
  span(dwell)
  const next = { percent: percent(share), dwell }
  if (next.percent <= (before.at(-1)?.percent ?? -1)) throw new InvalidArgumentError('Every step exposes more than the one before.')
  return [...before, next]
}

/** Reads how long to wait for replicas, such as `3s` or `500ms`, as the registry takes it. */
export function waiting(text: string): string {
  const match = /^(\d{1,5})(ms|s)$/.exec(text)
  if (match === null || waitMsOf(text) > limits.waitMs)
    throw new InvalidArgumentError(`It is a wait of at most ${limits.waitMs / 1000}s, such as 3s or 500ms.`)
  return text
}

/** The milliseconds of such a wait. */
export function waitMsOf(wait: string): number {
  return Number.parseInt(wait, 10) * (wait.endsWith('ms') ? 1 : 1000)
}
