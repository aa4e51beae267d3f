/** How long after each try of a probe the next one comes, in milliseconds; undefined after the last. */
export function pauseAfterTry(tries: number): number | undefined {
  return pausesMs[tries - 1]
}

const minuteMs = 60_000
const pausesMs = [minuteMs / 2, 2 * minuteMs, 10 * minuteMs, 60 * minuteMs, 360 * minuteMs]

/** What was sent before a lost call's deadline may arrive a little after it, and "it did not happen" has to stay true. */
const graceMs = 10_000

/** From when on a lost call may be asked after: before its deadline whoever carries it out may not be done with it. */
export function probeFrom(call: { readonly startedMs: number; readonly timeoutMs: number }): number {
  return call.startedMs + call.timeoutMs + graceMs
}

/** Whether an effect took place, by what a probe answered; null where it does not know, or did not say so in the form that was agreed. */
export function readVerdict(json: Uint8Array): boolean | null {
  try {
    const answer = JSON.parse(new TextDecoder().decode(json)) as unknown
    const happened = typeof answer === 'object' && answer !== null ? (answer as { readonly happened?: unknown }).happened : undefined
    return typeof happened === 'boolean' ? happened : null
  } catch {
    return null
  }
}
