import type { CallRow } from '@repertoire/contract'

/** A row, and its place in the order of commits. */
export type TailRow = { readonly seq: number; readonly row: CallRow }

/** Rows after a place, up to another unless that is open, of one agent when one is named. */
export type TailQuestion = {
  readonly after: number
  readonly upTo?: number
  readonly agent?: string | undefined
  readonly limit: number
}

/** The log as it grows, in the order of commits. */
export type Tail = {
  readonly read: (question: TailQuestion) => Promise<readonly TailRow[]>
  /** The newest place there is. */
  readonly newest: () => Promise<number>
  /** Up to where everybody who listens has heard. */
  readonly position: () => Promise<number>
  /** Listens from there on; undefined when the place is not the one up to which everybody has heard. */
  readonly join: (after: number) => Inbox | undefined
}

/** What arrives for one who listens. Full, it forgets all and is behind: then the rows have to be read. */
export type Inbox = {
  /** Answers when rows have come, and every moment when none have. */
  readonly next: () => Promise<{ readonly rows: readonly TailRow[]; readonly isBehind: boolean }>
  readonly leave: () => void
}
