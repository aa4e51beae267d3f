import { Refusal } from '@repertoire/core'

/** Lets work on one thing happen one after the other, in the order it came. */
export type Lines = <T>(key: string | undefined, withinMs: number, work: () => Promise<T>) => Promise<T>

type Waiting = { readonly enter: () => void }

/**
 * Makes lines: those who would wait for the same lock in the database wait here instead, where they hold no connection that
 * somebody else needs. Whoever's turn does not come in time is refused, and never has it later.
 */
export function createLines(): Lines {
  const lines = new Map<string, Waiting[]>()
  const next = (key: string): void => {
    const line = lines.get(key)
    const waiting = line?.shift()
    if (waiting === undefined) lines.delete(key)
    else waiting.enter()
  }
  const turn = (key: string, withinMs: number): Promise<void> => {
    const line = lines.get(key)
    if (line === undefined) {
      lines.set(key, [])
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.splice(line.indexOf(waiting), 1)
        reject(new Refusal('BUSY', 'Many others are changing this right now.', { headers: { 'Retry-After': '1' } }))
      }, withinMs)
      const waiting: Waiting = {
        enter: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      line.push(waiting)
    })
  }
  return async (key, withinMs, work) => {
    if (key === undefined) return work()
    await turn(key, withinMs)
    try {
      return await work()
    } finally {
      next(key)
    }
  }
}
