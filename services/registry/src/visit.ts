import type { Asking, Caller, UnitKind } from '@repertoire/core'

/** What every request of an agent says of itself in its headers, read once at the door. */
export type Visit = {
  /** What finds this request in the application log. */
  readonly requestId: string
  readonly caller: Caller
  readonly instance: string
  readonly session: string | null
  readonly tenant: string | null
  readonly traceparent: string | null
  /** Ranges by skill key: from the header, and from what the instance declared. */
  readonly standing: readonly ReadonlyMap<string, string>[]
  /** Milliseconds since the catalogue was confirmed, when the visit began. */
  readonly unconfirmedMs: number
  /** Who asks as it is at this very moment, long calls being what they are; undefined once key or agent are good no more. */
  readonly callerNow: () => Caller | undefined
}

/** A visit as the question resolution answers. */
export function askingOf(
  visit: Visit,
  nowMs: number,
  extra: {
    readonly range?: string | undefined
    readonly session?: string | undefined
    readonly tenant?: string | undefined
    readonly callId?: string
  } = {},
): Asking {
  const units: Partial<Record<UnitKind, string>> = { agent: visit.caller.id }
  const session = extra.session ?? visit.session
  // The agent's own tenant wins over what the request says.
  const tenant = visit.caller.tenant ?? extra.tenant ?? visit.tenant
  if (session !== null) units.session = session
  if (tenant !== null) units.tenant = tenant
  if (extra.callId !== undefined) units.call = extra.callId
  return { caller: visit.caller, nowMs, range: extra.range, standing: visit.standing, units, unconfirmedMs: visit.unconfirmedMs }
}
