import type { CallRow } from '@repertoire/contract'
import { mayReadRow, Refusal, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showPayloads } from './show-payloads.ts'

/** Which call, and how long to wait for its end, in milliseconds. */
export type GetCallInput = { readonly id: string; readonly waitMs: number }

/** One call, also one that is under way; somebody else's is as absent as none. */
export async function getCall(deps: Deps, caller: Caller, { id, waitMs }: GetCallInput): Promise<CallRow> {
  // Whose it is comes first, so that nobody learns by waiting.
  requireOwn(caller, id, await deps.calls.get(id))
  const row = requireOwn(caller, id, await deps.calls.get(id, waitMs))
  const [shown = row] = await showPayloads(deps, caller, [row])
  return shown
}

/** The row, when its reader may know of it. */
export function requireOwn(caller: Caller, id: string, row: CallRow | undefined): CallRow {
  if (row === undefined || !mayReadRow(caller, row)) throw noCall(id)
  return row
}

/** The refusal for a call that is not there, or is somebody else's. */
export function noCall(id: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no call ${id.slice(0, 64)}.`, { hint: 'list the calls to find its id' })
}
