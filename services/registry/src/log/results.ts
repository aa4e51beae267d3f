import type { Results } from '../ports.ts'
import type { Pool } from '../store/connect.ts'

/** For a result of 1 MiB, and for each further one. */
const keepMs = 1500
const keepMoreMs = 500
const readMs = 1500
/** Pieces of 64 KiB in one statement, so that a large result is never whole in one of them. */
const atOnce = 16
const keptHours = 24

/** Whole results in Postgres, sealed by whoever keeps them, for a day. */
export function openResults(pool: () => Pool): Results {
  return {
    keep: ({ callId, agentId, pieces, totalBytes }) =>
      pool().gate.run(
        async () => {
          await pool().sql.begin(async (tx) => {
            for (let first = 0; first < pieces.length; first += atOnce) {
              const some = pieces.slice(first, first + atOnce)
              await tx`insert into call_results (call_id, chunk, agent_id, total_bytes, bytes)
              select ${callId}::uuid, number, ${agentId}, ${totalBytes}, decode(hex, 'hex') from unnest(${some.map((_, index) => first + index)}::int[], ${some.map((piece) => Buffer.from(piece).toString('hex'))}::text[]) as piece (number, hex)`
            }
          })
        },
        keepMs + (totalBytes / 1_048_576) * keepMoreMs,
      ),
    piece: (agentId, callId, number) =>
      pool().gate.run(async () => {
        const [row] = await pool().sql<{ bytes: Buffer; total_bytes: number; pieces: number }[]>`
          select bytes, total_bytes, (select max(chunk) + 1 from call_results where call_id = ${callId}::uuid) as pieces from call_results
          where call_id = ${callId}::uuid and chunk = ${number} and agent_id = ${agentId} and kept_at > now() - make_interval(hours => ${keptHours})`
        return row === undefined ? undefined : { bytes: row.bytes, totalBytes: row.total_bytes, pieces: row.pieces }
      }, readMs),
  }
}
