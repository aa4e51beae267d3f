import { randomBytes } from 'node:crypto'
import type { Clock, Ids } from './ports.ts'

const bufferedBytes = 8192

/**
 * Identifiers of this replica: UUIDv7 that never decrease while the clock goes forward, or back by up to ten seconds.
 * A counter of 12 bits orders those of one millisecond; when it is used up, the next millisecond is borrowed.
 */
export function createIds(clock: Clock): Ids {
  let lastMs = 0
  let time = ''
  const moveTo = (ms: number): void => {
    lastMs = ms
    const hex = ms.toString(16).padStart(12, '0')
    time = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
  }
  let counter = 0
  let pool = randomBytes(bufferedBytes)
  let used = 0
  const take = (bytes: number): Buffer => {
    if (used + bytes > pool.length) {
      pool = randomBytes(bufferedBytes)
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }
  return {
    random: (bytes) => randomBytes(bytes),
    next: () => {
      const nowMs = clock.now().getTime()
      if (nowMs > lastMs || nowMs < lastMs - 10_000) {
        moveTo(nowMs)
        counter = take(2).readUInt16BE() & 0x7ff
      } else if (counter < 0xfff) counter += 1
      else {
        moveTo(lastMs + 1)
        counter = 0
      }
      const tail = take(8)
      tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80
      const hex = tail.toString('hex')
      return `${time}${(0x1000 + counter).toString(16).slice(1)}-${hex.slice(0, 4)}-${hex.slice(4)}`
    },
  }
}
