import type postgres from 'postgres'
import type { ClaimKey, Claims, KnownClaim, NewClaim } from '../ports.ts'
import type { Pool } from '../store/connect.ts'
import { rememberOwn } from './own-claims.ts'

const deadlineMs = 1000
/** How long the answer to a key is kept. */
const keptHours = 24

/** Idempotency keys in Postgres; one row decides, whichever replicas ask at once. */
export function openClaims(pool: () => Pool): Claims {
  const ask = <T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> => pool().gate.run(() => work(pool().sql), deadlineMs)
  return rememberOwn({
    look: (key) => ask((sql) => find(sql, key)),
    claim: (claim) =>
      ask(async (sql) => {
        // Of two that are asked for at once, the second waits for the first's row and finds it taken.
        if (await take(sql, claim)) return 'mine'
        const known = await find(sql, claim)
        if (known !== undefined) return known
        return (await take(sql, claim))
          ? 'mine'
          : {
              kind: 'in_flight',
              callId: claim.callId,
              requestHash: claim.requestHash,
              version: claim.version,
              answer: null,
              hasHappened: false,
            }
      }),
    release: ({ agentId, skillKey, keyHash }, callId) =>
      ask(async (sql) => {
        await sql`delete from call_claims where agent_id = ${agentId} and skill_key = ${skillKey} and key_hash = ${keyHash} and call_id = ${callId}::uuid and state = 'running'`
      }),
  })
}

// Takes a key that is new, past its day, or was left by a call that may safely happen again.
async function take(sql: postgres.Sql, claim: NewClaim): Promise<boolean> {
  const { agentId, skillKey, keyHash, requestHash, callId, effects, version, leaseMs } = claim
  const taken = await sql`
    insert into call_claims as known (agent_id, skill_key, key_hash, request_hash, call_id, effects, state, version, claimed_at, lease_until)
    values (${agentId}, ${skillKey}, ${keyHash}, ${requestHash}, ${callId}::uuid, ${effects}, 'running', ${version}, now(), now() + make_interval(secs => ${leaseMs / 1000}))
    on conflict (agent_id, skill_key, key_hash) do update set request_hash = excluded.request_hash, call_id = excluded.call_id, effects = excluded.effects,
      state = 'running', version = excluded.version, claimed_at = excluded.claimed_at, lease_until = excluded.lease_until, answer = null
    where (known.claimed_at < now() - make_interval(hours => ${keptHours}) and known.lease_until < now())
      or (known.state = 'running' and known.lease_until < now() and known.effects <> 'once' and known.request_hash = excluded.request_hash)
    returning call_id`
  return taken.length > 0
}

type ClaimRow = {
  readonly call_id: string
  readonly request_hash: string
  readonly version: string
  readonly answer: Buffer | null
  readonly kind: KnownClaim['kind']
  readonly has_happened: boolean
}

async function find(sql: postgres.Sql, { agentId, skillKey, keyHash }: ClaimKey): Promise<KnownClaim | undefined> {
  const [row] = await sql<ClaimRow[]>`
    select call_id, request_hash, version, answer, case
      when state = 'done' then 'answered'
      when state = 'unknown' then 'unknown'
      when lease_until >= now() then 'in_flight'
      when effects = 'once' then 'unknown'
      else 'abandoned' end as kind,
      coalesce((select (settled::json ->> 'happened')::boolean from calls where calls.call_id = call_claims.call_id and state <> 'done'), false) as has_happened
    from call_claims where agent_id = ${agentId} and skill_key = ${skillKey} and key_hash = ${keyHash}
      and not (claimed_at < now() - make_interval(hours => ${keptHours}) and lease_until < now())`
  return row === undefined
    ? undefined
    : {
        kind: row.kind,
        callId: row.call_id,
        requestHash: row.request_hash,
        version: row.version,
        answer: row.answer,
        hasHappened: row.has_happened,
      }
}
