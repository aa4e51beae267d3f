import { Refusal } from '@repertoire/core'

/** Places for what takes long: so many at a replica, and so many of them for one caller. */
export type Places = { readonly take: (caller: string) => () => void; readonly taken: () => number }

/** Makes places; whoever finds none is refused with BUSY. What is taken is given back once, however often that is said. */
export function createPlaces({ all, each, what }: { readonly all: number; readonly each: number; readonly what: string }): Places {
  const held = new Map<string, number>()
  let taken = 0
  return {
    taken: () => taken,
    take: (caller) => {
      const own = held.get(caller) ?? 0
      if (taken >= all || own >= each)
        throw new Refusal('BUSY', `This replica has room for ${all} ${what}, ${each} of one caller, and they are taken.`, {
          hint: 'end one, or come back later',
          headers: { 'Retry-After': '5' },
        })
      taken += 1
      held.set(caller, own + 1)
      let isGiven = false
      return () => {
        if (isGiven) return
        isGiven = true
        taken -= 1
        const left = (held.get(caller) ?? 1) - 1
        if (left === 0) held.delete(caller)
        else held.set(caller, left)
      }
    },
  }
}
