/** A time as people read it, with its zone unless that stands elsewhere. */
export function sayTime(time: string, zone = ' UTC'): string {
  return `${time.slice(0, 19).replace('T', ' ')}${zone}`
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** How long something lasts, in its two largest units, such as `1h 20m`. */
export function saySpan(ms: number): string {
  const parts: string[] = []
  let rest = Math.max(0, Math.round(ms / 1000) * 1000)
  for (const [unit, size] of units) {
    if (rest >= size) parts.push(`${Math.floor(rest / size)}${unit}`)
    rest %= size
  }
  return parts.slice(0, 2).join(' ') || '0s'
}
