import type { NewCallRow } from '../stored.ts'

/** One column of the narrow table: its name, its array type in a batch, and its value of a row as text, which is what the driver sends anyway. */
type Column = { readonly name: string; readonly type: string; readonly cast?: string; readonly of: (row: NewCallRow) => string | null }

const text = (name: keyof NewCallRow & string): Column => ({ name, type: 'text[]', of: (row) => clean(row[name] as string | null) })
const number = (name: keyof NewCallRow & string, type: 'bigint[]' | 'int[]' | 'float8[]'): Column => ({
  name,
  type,
  of: (row) => (row[name] === null ? null : String(type === 'int[]' ? Math.min(Number(row[name]), maxInteger) : row[name])),
})
// A count that no column holds must not cost the row that has it.
const maxInteger = 2 ** 31 - 1
// The driver writes every element of a boolean array that is not `true` itself as false, so flags travel as text.
const flag = (name: keyof NewCallRow & string): Column => ({ name, type: 'text[]', cast: '::boolean', of: (row) => String(row[name]) })

/** The narrow table's columns, in the order they are inserted. */
export const callColumns: readonly Column[] = [
  { name: 'call_id', type: 'uuid[]', of: (row) => row.call_id },
  { name: 'ts', type: 'timestamptz[]', of: (row) => row.ts.toISOString() },
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
  number('revision', 'bigint[]'),
  text('executor'),
  number('attempts', 'int[]'),
  text('outcome'),
  text('error_code'),
  text('error_origin'),
  {
    name: 'violations',
    type: 'text[]',
    of: (row) => (row.violations.length === 0 ? null : JSON.stringify(row.violations.map(cleanPlace))),
  },
  number('queue_ms', 'float8[]'),
  number('executor_ms', 'float8[]'),
  number('total_ms', 'float8[]'),
  number('input_bytes', 'int[]'),
  number('output_bytes', 'int[]'),
  text('input_sha256'),
  flag('truncated'),
  {
    name: 'redaction_rules',
    type: 'text[]',
    of: ({ redaction }) => (redaction.rules.length === 0 ? null : redaction.rules.join(' ')),
  },
  { name: 'redaction_count', type: 'int[]', of: ({ redaction }) => String(redaction.count) },
  { name: 'redaction_failed', type: 'text[]', cast: '::boolean', of: ({ redaction }) => String(redaction.failed) },
  text('intent'),
  text('idempotency_key_hash'),
  text('replay_of'),
  flag('dry_run'),
  text('authz_rule'),
  { name: 'labels', type: 'text[]', of: (row) => (Object.keys(row.labels).length === 0 ? null : JSON.stringify(row.labels)) },
]

// Postgres reads these when it counts them; a path holds names that came from outside.
function cleanPlace({ path, rule }: NewCallRow['violations'][number]): NewCallRow['violations'][number] {
  return { path: clean(path) ?? '', rule: clean(rule) ?? '' }
}

// Postgres text takes neither U+0000 nor half a surrogate pair; one such character must not cost a whole batch.
function clean(value: string | null): string | null {
  return value === null ? null : value.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
