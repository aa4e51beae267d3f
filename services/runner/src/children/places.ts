/** A limited number of places to run in. */
export type Places = { readonly take: (deadlineMs: number, gone: AbortSignal) => Promise<(() => void) | undefined> }

const maxWaiting = 256

/** So many run at once; the others wait in order until their deadline or until nobody asks any more, and beyond a bound nobody waits. */
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
    take: async (deadlineMs, gone) => {
      if (gone.aborted) return undefined
      if (free > 0) {
        free -= 1
        return once()
      }
      if (waiting.length >= maxWaiting) return undefined
      const got = await new Promise<boolean>((resolve) => {
        const entry = (place: boolean): void => {
          clearTimeout(timer)
          gone.removeEventListener('abort', leave)
          resolve(place)
        }
        const leave = (): void => {
          const at = waiting.indexOf(entry)
          if (at >= 0) waiting.splice(at, 1)
          entry(false)
        }
        const timer = setTimeout(leave, deadlineMs)
        gone.addEventListener('abort', leave, { once: true })
        waiting.push(entry)
      })
      return got ? once() : undefined
    },
  }
}
