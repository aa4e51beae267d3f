import fc from 'fast-check'

/** How often each property is tried: 2 000 times, or as often as FAST_CHECK_RUNS says. */
export const numRuns = Number(process.env['FAST_CHECK_RUNS'] ?? 2000)

/** What a property may take, in milliseconds: they are tried ten times as often where there is time. */
export const patienceMs = 30_000 + numRuns * 50

/** Tries a property; what it returns, or throws, says whether it holds. */
export function check<Given extends [unknown, ...unknown[]]>(
  given: { readonly [Index in keyof Given]: fc.Arbitrary<Given[Index]> },
  holds: (...given: Given) => boolean | void,
): void {
  const values = fc.tuple(...given) as unknown as fc.Arbitrary<Given>
  fc.assert(
    fc.property(values, (tried) => holds(...tried)),
    { numRuns },
  )
}
