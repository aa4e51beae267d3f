import type { Context } from 'hono'
import type { Deps } from '../ports.ts'
import type { Slots } from '../slots.ts'
import type { Visit } from '../visit.ts'
import type { TokenVerifier } from './token-verifier.ts'

/** What the door leaves for the rooms behind it: the request's id, and who asks; undefined on routes that need no key. */
export type DoorVariables = { requestId: string; visit: Visit | undefined; deps: HttpDeps; keyHash: string | undefined }

/** The environment every route sees. */
export type DoorEnv = { Variables: DoorVariables }

/** A request in our house. */
export type Ask = Context<DoorEnv>

/** What the HTTP surface needs beside the verbs' deps. */
export type HttpDeps = Deps & {
  readonly health: Health
  /** The places of requests that are under way. */
  readonly admission: Slots
  /** There when an issuer of tokens is configured. */
  readonly verifyToken?: TokenVerifier | undefined
  readonly onBug: (error: unknown, requestId: string) => void
  readonly renderMetrics: () => Promise<{ readonly type: string; readonly text: string }>
}

/** Whether this replica can serve, and what is not as it should be. */
export type Health = {
  readonly degraded: () => readonly string[]
  readonly staleMs: () => number | undefined
  readonly isStopping: () => boolean
}
