import type { CallRow } from '@repertoire/contract'
import { scanJson } from '@repertoire/core'
import type postgres from 'postgres'
import type { NewCallRow } from '../stored.ts'
import { findIntent } from './intents.ts'
import { decodeEntry } from './spool/frames.ts'

/** A row as the database gives it. */
export type StoredRow = Record<string, unknown> & { readonly ts: Date; readonly input: Buffer | null; readonly output: Buffer | null }

/** What is read of a row, with its payload. */
export const rowColumns = `c.call_id, c.ts, c.replica, c.trace_id, c.session, c.tenant, c.agent_id, c.key_id, c.on_behalf_of, c.parent_call_id, c.playbook, c.skill,
  c.requested_range, c.version, c.version_digest, c.via, c.rollout_id, c.arm, c.unit_kind, c.unit_hash, c.revision::float8 as revision, c.executor, c.attempts, c.outcome,
  c.error_code, c.error_origin, p.error_message, c.violations, c.queue_ms, c.executor_ms, c.total_ms, c.input_bytes, c.output_bytes, c.input_sha256, c.truncated,
  c.redaction_rules, c.redaction_count, c.redaction_failed,
  c.intent, c.replay_of, c.dry_run, c.authz_rule, c.labels, c.settled, c.probed, p.input, p.output`

/** Whole rows by their ids, which lie between two of them, in no order. */
export async function readRows(sql: postgres.Sql, callIds: readonly string[]): Promise<CallRow[]> {
  if (callIds.length === 0) return []
  const sorted = [...callIds].sort()
  // Payloads are looked up one by one: a join over the days between would read them all.
  const rows = await sql<StoredRow[]>`
    select ${sql.unsafe(rowColumns)} from calls c left join lateral (select * from call_payloads where call_payloads.call_id = c.call_id offset 0) as p on true
    where c.call_id = any(${sorted}::uuid[]) and c.call_id between ${sorted[0] ?? ''}::uuid and ${sorted.at(-1) ?? ''}::uuid`
  return rows.map(toCallRow)
}

/** One call, also one that is under way; undefined when there is none of that id. */
export async function getCall(sql: postgres.Sql, callId: string): Promise<CallRow | undefined> {
  const rows = await sql<
    StoredRow[]
  >`select ${sql.unsafe(rowColumns)} from calls c left join call_payloads p on p.call_id = c.call_id where c.call_id = ${callId}::uuid`
  const [row] = rows
  if (row !== undefined) return toCallRow(row)
  const intent = await findIntent(sql, callId)
  return intent === undefined ? undefined : toRunning(decodeEntry(intent.row).row)
}

/** A row as its readers see it. */
export function toCallRow({ redaction_rules: rules, redaction_count: count, redaction_failed: failed, ...row }: StoredRow): CallRow {
  return {
    ...row,
    state: 'done',
    redaction: { rules: rules === null ? [] : String(rules).split(' '), count, failed },
    ts: row.ts.toISOString(),
    violations: row['violations'] === null ? [] : JSON.parse(String(row['violations'])),
    labels: row['labels'] === null ? {} : JSON.parse(String(row['labels'])),
    settled: row['settled'] === null ? null : JSON.parse(String(row['settled'])),
    probed: row['probed'] === null ? null : JSON.parse(String(row['probed'])),
    input: payload(row.input),
    output: payload(row.output),
    payload_withheld: false,
  } as unknown as CallRow
}

function toRunning({ idempotency_key_hash: _, ...row }: NewCallRow): CallRow {
  const input = row.input === null ? null : payload(Buffer.from(row.input))
  return { ...row, state: 'running', settled: null, probed: null, ts: row.ts.toISOString(), input, output: null, payload_withheld: false }
}

// Without one of these, no number in a text can be one that reading it would alter.
const longNumber = /\d{16}|\d[eE]/
const deepest = 10_000

// A payload is the exact bytes that came; what is not JSON, or would be another number once it is read, is shown as the text it is.
function payload(bytes: Buffer | null): unknown {
  if (bytes === null) return null
  const text = bytes.toString('utf8')
  try {
    return longNumber.test(text) && scanJson(text, deepest) !== undefined ? text : JSON.parse(text)
  } catch {
    return text
  }
}
