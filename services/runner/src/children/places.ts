/** A limited number of places to run in. */
export type Places = { readonly take: (deadlineMs: number) => Promise<(() => void) | undefined> }

const maxWaiting = 256

/** So many run at once; the others wait in order until their deadline, and beyond a bound nobody waits. */
export function createPlaces(count: number): Places {
  let free = count
  const waiting: ((place: boolean) => void)[] = []
  const give = (): void => {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next(true)
  }
  const once = (): (() => void) => {
    let given = false
    return () => {
      if (given) return
      given = true
      give()
    }
  }
  return {
    take: async (deadlineMs) => {
      if (free > 0) {
        free -= 1
        return once()
      }
      if (waiting.length >= maxWaiting) return undefined
      const got = await new Promise<boolean>((resolve) => {
        const entry = (place: boolean): void => {
          clearTimeout(timer)
          resolve(place)
        }
        const timer = setTimeout(() => {
          const at = waiting.indexOf(entry)
          if (at >= 0) waiting.splice(at, 1)
          resolve(false)
        }, deadlineMs)
        waiting.push(entry)
      })
      return got ? once() : undefined
    },
  }
}
