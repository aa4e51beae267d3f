const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const

/** Milliseconds of a duration such as 30s, 15m, 2h or 1d. */
export function readDuration(text: string): number {
  const found = /^(\d+)([dhms])$/.exec(text)
  const unit = found?.[2] as keyof typeof units | undefined
  return unit === undefined ? 0 : Number(found?.[1]) * units[unit]
}

/** A duration in its largest whole unit. */
export function writeDuration(ms: number): string {
  for (const [unit, size] of Object.entries(units)) if (ms > 0 && ms % size === 0) return `${ms / size}${unit}`
  return `${Math.round(ms / 1000)}s`
}
