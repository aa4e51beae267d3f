import { setTimeout as pause } from 'node:timers/promises'
import type { Replicas } from '../ports.ts'
import type { Database } from './connect.ts'
import type { Gate } from './gate.ts'
import { beat, obeying, signOff } from './replicas.ts'

/** Tells the others what this replica has applied, and what the others have. */
export type Heartbeat = Replicas & {
  /** Hears that this replica has applied a revision, or that it still is the newest. */
  readonly applied: (revision: number) => void
  readonly signOff: () => Promise<void>
}

/** What a heartbeat works with. */
export type HeartbeatOptions = {
  readonly database: Database
  readonly gate: Gate
  readonly replica: string
  readonly onError: (error: unknown) => void
}

const lookAgainMs = 20

/** Makes the heartbeat of a replica: one row, written again on every confirmation, never twice at a time. */
export function createHeartbeat({ database, gate, replica, onError }: HeartbeatOptions): Heartbeat {
  let wanted = 0
  let writing: Promise<void> | undefined
  let hasLeft = false

  const write = async (): Promise<void> => {
    let written = -1
    while (written < wanted && !hasLeft) {
      written = wanted
      await gate.run(() => beat(database.reserved, replica, written))
    }
  }
  const startWriting = (): void => {
    const asked = wanted
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined
        if (wanted > asked && !hasLeft) startWriting()
      })
  }
  return {
    applied: (revision) => {
      wanted = Math.max(wanted, revision)
      startWriting()
    },
    obeying: async (revision, waitMs) => {
      const until = performance.now() + waitMs
      for (;;) {
        const now = await gate.run(() => obeying(database.reserved, revision))
        if ((now.lagging.length === 0 && now.unreachable.length === 0) || performance.now() >= until) return now
        await pause(lookAgainMs)
      }
    },
    signOff: async () => {
      hasLeft = true
      await writing
      await gate.run(() => signOff(database.reserved, replica), 2000).catch(onError)
    },
  }
}
