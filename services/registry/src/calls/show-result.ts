import type { ResultPart, ResultQuery } from '@repertoire/contract'
import { authorize, denied, nameKey, open, Refusal, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noCall, requireOwn } from './get-call.ts'
import { readResultCursor, resultContext, resultPath } from './result-pieces.ts'
import { selectParts } from './select-parts.ts'

/** Which result, and which part of it. */
export type ResultInput = ResultQuery & { readonly id: string }

/**
 * A part of the whole result of an own call, as JSON: the agent that made it gets it back unredacted and as it was, as long as it
 * may still call that version.
 */
export async function showResult(deps: Deps, caller: Caller, { id, cursor, items, lines }: ResultInput): Promise<string> {
  const row = requireOwn(caller, id, await deps.calls.get(id))
  // Not even an operator reads what another one was given, where nothing of it was redacted.
  if (row.agent_id !== caller.id) throw noCall(id)
  if (row.state === 'running')
    throw new Refusal('CALL_IN_FLIGHT', 'The call is still under way.', {
      hint: `wait for it: GET /v1/calls/${id}?wait=30`,
      headers: { 'Retry-After': '1' },
    })
  refuseLostRight(deps, caller, row)
  const piece = async (number: number): Promise<{ readonly text: string; readonly pieces: number; readonly totalBytes: number }> => {
    const kept = await deps.results.piece(caller.id, id, number)
    const bytes = kept === undefined ? undefined : open(deps.settings.installSecret, resultContext(id, number), kept.bytes)
    if (kept === undefined || bytes === undefined)
      throw new Refusal('EXPIRED', 'There is no whole result of this call: it was not cut, or its day is over.', {
        hint: 'look at the call itself, or call again',
      })
    return { text: bytes.toString('utf8'), pieces: kept.pieces, totalBytes: kept.totalBytes }
  }
  if (items !== undefined || lines !== undefined) {
    const { totalBytes, parts } = await selectParts(piece, items === undefined ? { lines: lines ?? '' } : { items })
    return writePart({ call_id: id, total_bytes: totalBytes, text: null, items: null, lines: null, next: null, ...parts })
  }
  const number = readResultCursor(id, cursor)
  const { text, pieces, totalBytes } = await piece(number)
  return writePart({
    call_id: id,
    total_bytes: totalBytes,
    text,
    items: null,
    lines: null,
    next: number + 1 < pieces ? resultPath(id, number + 1) : null,
  })
}

// Items are put in as they stand in the result: parsed and written again, a number beyond 2^53 would be another one.
function writePart({ items, ...part }: Omit<ResultPart, 'items'> & { readonly items: readonly string[] | null }): string {
  const rest = JSON.stringify(part)
  return `${rest.slice(0, -1)},"items":${items === null ? 'null' : `[${items.join(',')}]`}}`
}

function refuseLostRight(
  deps: Deps,
  caller: Caller,
  { skill: name, version: number }: { readonly skill: string; readonly version: string | null },
): void {
  const skill = deps.snapshot().skills.get(nameKey(name))
  const version = number === null ? undefined : skill?.byVersion.get(number)
  if (skill === undefined || version === undefined) return
  const authorization = authorize(caller, { skill, version }, deps.clock.now().getTime())
  if (!authorization.mayCall) throw denied(skill, authorization, caller)
}
