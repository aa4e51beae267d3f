import { seal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { resultContext, resultPath } from './result-pieces.ts'

const pieceBytes = 64 * 1024

/** Keeps a whole result for a day, sealed and in pieces; answers with where to read it, or null when it could not be kept. */
export async function keepResult(
  deps: Deps,
  call: CallInProgress,
  { agentId, json }: { readonly agentId: string; readonly json: Uint8Array },
): Promise<string | null> {
  const pieces = cutAtCharacters(json)
  try {
    await deps.results.keep({
      callId: call.id,
      agentId,
      totalBytes: json.byteLength,
      pieces: pieces.map((bytes, number) =>
        seal(deps.settings.installSecret, resultContext(call.id, number), { bytes, nonce: deps.ids.random(12) }),
      ),
    })
    return resultPath(call.id, 0)
  } catch {
    call.warn({ code: 'result_not_kept', message: 'The whole result could not be kept: the database is away. Only the preview is there.' })
    return null
  }
}

// Every piece ends where a character does, so that each is text by itself and all of them together are the whole.
function cutAtCharacters(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let start = 0; start < bytes.byteLength;) {
    let end = Math.min(bytes.byteLength, start + pieceBytes)
    while (end < bytes.byteLength && isContinuation(bytes[end])) end -= 1
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
