import type postgres from 'postgres'
import type { Completion } from '../stored.ts'

/** Says what the first answer to some Idempotency-Keys was, as long as it is still that call which holds them. */
export async function completeClaims(tx: postgres.TransactionSql, completions: readonly Completion[]): Promise<void> {
  for (const { agentId, skillKey, keyHash, callId, answer } of completions)
    await tx`update call_claims set state = 'done', answer = ${answer === null ? null : Buffer.from(answer)}
      where agent_id = ${agentId} and skill_key = ${skillKey} and key_hash = ${keyHash} and call_id = ${callId}::uuid`
}
