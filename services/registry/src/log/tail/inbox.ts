import type { Inbox, TailRow } from '../../tail.ts'

const mostRows = 1000
const mostBytes = 16 * 1024 * 1024

/** An inbox together with the side on which rows arrive. */
export type FedInbox = Inbox & { readonly deliver: (rows: readonly TailRow[]) => void }

/** Makes an inbox. One that is full forgets what it holds and says so: the database has it all. */
export function createInbox(leave: () => void): FedInbox {
  let rows: TailRow[] = []
  let bytes = 0
  let isBehind = false
  let wake: (() => void) | undefined
  return {
    deliver: (more) => {
      if (!isBehind) {
        bytes += more.reduce((sum, { row }) => sum + row.input_bytes + row.output_bytes + 1024, 0)
        if (rows.length + more.length > mostRows || bytes > mostBytes) {
          isBehind = true
          rows = []
        } else rows.push(...more)
      }
      wake?.()
    },
    next: async () => {
      if (rows.length === 0 && !isBehind) await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
      const taken = rows
      rows = []
      bytes = 0
      return { rows: taken, isBehind }
    },
    leave: () => {
      leave()
      wake?.()
    },
  }
}
