import type { ErrorEffect } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import type { Deps } from '../ports.ts'
import type { CallEnd } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'

const maxPayloadBytes = 64 * 1024

/** Writes the call's one row and answers once it is durable. */
export async function recordCall(deps: Deps, call: CallInProgress, end: CallEnd): Promise<void> {
  const row = call.row()
  const input = keep(row.input)
  const output = keep(end.output)
  const appended = deps.calls.append({
    row: {
      ...row,
      outcome: end.outcome,
      error_code: end.error?.code.slice(0, 64) ?? null,
      error_origin: end.error?.origin ?? null,
      error_message: end.error?.message ?? null,
      input: input.bytes,
      output: output.bytes,
      output_bytes: end.output?.byteLength ?? 0,
      truncated: input.cut || output.cut,
      total_ms: call.elapsedMs(),
      // Keyed, so that equal inputs can be found without their digest giving short ones away.
      input_sha256: row.input === null ? null : createHmac('sha256', deps.settings.installSecret).update(row.input).digest('hex'),
    },
  })
  await appended.catch((error: unknown) => {
    throw error instanceof Refusal
      ? new Refusal(error.code, error.message, { effect: end.effect, headers: error.headers, hint: hintFor(end.effect) })
      : error
  })
}

function hintFor(effect: ErrorEffect): string {
  return effect === 'none' ? 'nothing was done; try again' : 'the skill may have had its effect; look before you call again'
}

function keep(bytes: Uint8Array | null): { readonly bytes: Uint8Array | null; readonly cut: boolean } {
  if (bytes === null || bytes.byteLength <= maxPayloadBytes) return { bytes, cut: false }
  return { bytes: bytes.subarray(0, maxPayloadBytes), cut: true }
}
