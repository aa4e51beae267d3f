import type { NewCallRow } from '../stored.ts'
import { cleanText, type CopiedColumn } from './copy-in.ts'

type Column = CopiedColumn<NewCallRow>

const text = (name: keyof NewCallRow & string): Column => ({ name, of: (row) => row[name] as string | null })
const number = (name: keyof NewCallRow & string, type: 'bigint' | 'int' | 'float8'): Column => ({
  name,
  of: (row) => (row[name] === null ? null : String(type === 'int' ? Math.min(Number(row[name]), maxInteger) : row[name])),
})
// A count that no column holds must not cost the row that has it.
const maxInteger = 2 ** 31 - 1
const flag = (name: keyof NewCallRow & string): Column => ({ name, of: (row) => String(row[name]) })

/** The narrow table's columns, in the order they are inserted. */
export const callColumns: readonly Column[] = [
  { name: 'call_id', of: (row) => row.call_id },
  { name: 'ts', of: (row) => row.ts.toISOString() },
  text('replica'),
  text('trace_id'),
  text('session'),
  text('tenant'),
  text('agent_id'),
  text('key_id'),
  text('on_behalf_of'),
  text('parent_call_id'),
  text('playbook'),
  text('skill'),
  text('requested_range'),
  text('version'),
  text('version_digest'),
  text('via'),
  text('rollout_id'),
  text('arm'),
  text('unit_kind'),
  text('unit_hash'),
  number('revision', 'bigint'),
  text('executor'),
  number('attempts', 'int'),
  text('outcome'),
  text('error_code'),
  text('error_origin'),
  {
    name: 'violations',

    of: (row) => (row.violations.length === 0 ? null : JSON.stringify(row.violations.map(cleanPlace))),
  },
  number('queue_ms', 'float8'),
  number('executor_ms', 'float8'),
  number('total_ms', 'float8'),
  number('input_bytes', 'int'),
  number('output_bytes', 'int'),
  text('input_sha256'),
  flag('truncated'),
  {
    name: 'redaction_rules',

    of: ({ redaction }) => (redaction.rules.length === 0 ? null : redaction.rules.join(' ')),
  },
  { name: 'redaction_count', of: ({ redaction }) => String(redaction.count) },
  { name: 'redaction_failed', of: ({ redaction }) => String(redaction.failed) },
  text('intent'),
  text('idempotency_key_hash'),
  text('replay_of'),
  flag('dry_run'),
  text('authz_rule'),
  { name: 'labels', of: (row) => (Object.keys(row.labels).length === 0 ? null : JSON.stringify(row.labels)) },
]

// Postgres reads these when it counts them; a path holds names that came from outside.
function cleanPlace({ path, rule }: NewCallRow['violations'][number]): NewCallRow['violations'][number] {
  return { path: cleanText(path), rule: cleanText(rule) }
}
