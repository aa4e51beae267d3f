import { setTimeout as pause } from 'node:timers/promises'
import type { Replicas } from '../ports.ts'
import type { Propagation } from '../stored.ts'
import type { Database } from './connect.ts'
import { beat, readReplicas, signOff, standingsAt, type ReplicaRow } from './replicas.ts'

/** Tells the others what this replica has applied, and what the others have. */
export type Heartbeat = Replicas & {
  /** Hears that this replica has applied a revision, or that it still is the newest. */
  readonly applied: (revision: number) => void
  readonly signOff: () => Promise<void>
}

/** What a heartbeat works with; an instance is one process, whatever name it was given. */
export type HeartbeatOptions = {
  readonly database: Database
  readonly replica: string
  readonly instance: string
  readonly onError: (error: unknown) => void
  /** For how long rows of calls have been waiting here for Postgres. */
  readonly logLagMs: () => number
}

const lookAgainMs = 20

/** Makes the heartbeat of a replica: one row, written again on every confirmation, never twice at a time. */
export function createHeartbeat({ database: { pulse }, replica, instance, onError, logLagMs }: HeartbeatOptions): Heartbeat {
  let wanted = 0
  let written = -1
  let writing: Promise<void> | undefined
  let hasLeft = false
  let looking: Promise<readonly ReplicaRow[]> | undefined

  const write = async (): Promise<void> => {
    do {
      written = wanted
      await pulse.gate.run(() => beat(pulse.db, { instance, name: replica, revision: written, logLagMs: Math.round(logLagMs()) }))
    } while (written !== wanted && !hasLeft)
  }
  const startWriting = (): void => {
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined
        if (wanted !== written && !hasLeft) startWriting()
      })
  }
  // However many commands wait, the table is read once at a time.
  const look = (): Promise<readonly ReplicaRow[]> => {
    looking ??= pulse.gate.run(() => readReplicas(pulse.db)).finally(() => (looking = undefined))
    return looking
  }
  return {
    applied: (revision) => {
      // A read that was under way when this replica signed off must not sign it on again.
      if (hasLeft) return
      wanted = revision
      startWriting()
    },
    obeying: async (revision, waitMs) => {
      const until = performance.now() + waitMs
      for (;;) {
        const now: Propagation = standingsAt(await look(), revision)
        if ((now.lagging.length === 0 && now.unreachable.length === 0) || performance.now() >= until) return now
        await pause(lookAgainMs)
      }
    },
    signOff: async () => {
      hasLeft = true
      await writing
      await pulse.gate.run(() => signOff(pulse.db, instance), 2000).catch(onError)
    },
  }
}
