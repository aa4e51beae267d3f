import { writeHistogram } from '@repertoire/core'
import type postgres from 'postgres'
import { cellsOf, grains, type Cell, type Counted } from './cells.ts'
import { unitsOf, type UnitCount } from './units.ts'
import { violationsOf, type Violations } from './violations.ts'

/** Adds rows to everything that is counted, or with -1 takes away what was counted of them; in the transaction that writes them. */
export async function addToRollups(tx: postgres.TransactionSql, rows: readonly Counted[], sign: 1 | -1 = 1): Promise<void> {
  const counted = rows.filter((row) => !row.dry_run)
  if (counted.length === 0) return
  await addCells(tx, { table: 'call_hours', cells: cellsOf(counted, grains.hour), sign })
  await addCells(tx, { table: 'call_days', cells: cellsOf(counted, grains.day), sign })
  await addViolations(tx, violationsOf(counted), sign)
  await addUnits(tx, unitsOf(counted), sign)
}

const clean = (text: string): string => text.replaceAll('\u0000', '\uFFFD').toWellFormed()

// The driver's way from an array to Postgres' is made of text anyway.
function columnsOf<T>(items: readonly T[], columns: readonly ((item: T) => string)[]): never[] {
  return columns.map((column) => items.map(column)) as never[]
}

type ToAdd = { readonly table: 'call_hours' | 'call_days'; readonly cells: readonly Cell[]; readonly sign: 1 | -1 }

async function addCells(tx: postgres.TransactionSql, { table, cells, sign }: ToAdd): Promise<void> {
  await tx.unsafe(
    `insert into ${table} as known (bucket, skill, version, agent_id, arm, outcome, error_code, calls, attempts, retried, total_ms, output_bytes, histogram)
     select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::float8[], $12::bigint[], $13::numeric[])
     on conflict (bucket, skill, version, agent_id, arm, outcome, error_code) do update set
       calls = known.calls + excluded.calls, attempts = known.attempts + excluded.attempts, retried = known.retried + excluded.retried,
       total_ms = known.total_ms + excluded.total_ms, output_bytes = known.output_bytes + excluded.output_bytes, histogram = known.histogram + excluded.histogram`,
    columnsOf(cells, [
      (cell) => cell.bucket.toISOString(),
      (cell) => clean(cell.skill),
      (cell) => clean(cell.version),
      (cell) => clean(cell.agentId),
      (cell) => clean(cell.arm),
      (cell) => clean(cell.outcome),
      (cell) => clean(cell.errorCode),
      (cell) => String(sign * cell.calls),
      (cell) => String(sign * cell.attempts),
      (cell) => String(sign * cell.retried),
      (cell) => String(sign * cell.totalMs),
      (cell) => String(sign * cell.outputBytes),
      (cell) => `${sign < 0 ? '-' : ''}${writeHistogram(cell.histogram)}`,
    ]),
    { prepare: true },
  )
}

async function addViolations(tx: postgres.TransactionSql, violations: readonly Violations[], sign: 1 | -1): Promise<void> {
  if (violations.length === 0) return
  await tx.unsafe(
    `insert into violation_days as known (bucket, skill, version, outcome, path, rule, calls)
     select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
     on conflict (bucket, skill, version, outcome, path, rule) do update set calls = known.calls + excluded.calls`,
    columnsOf(violations, [
      (found) => found.bucket.toISOString(),
      (found) => clean(found.skill),
      (found) => clean(found.version),
      (found) => clean(found.outcome),
      (found) => clean(found.path),
      (found) => clean(found.rule),
      (found) => String(sign * found.calls),
    ]),
    { prepare: true },
  )
}

async function addUnits(tx: postgres.TransactionSql, units: readonly UnitCount[], sign: 1 | -1): Promise<void> {
  if (units.length === 0) return
  await tx.unsafe(
    `insert into rollout_units as known (rollout_id, arm, unit_kind, unit_hash, version, calls, failures, total_ms, squared_ms, last_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::float8[], $9::float8[], $10::timestamptz[])
     on conflict (rollout_id, arm, unit_kind, unit_hash, version) do update set
       calls = known.calls + excluded.calls, failures = known.failures + excluded.failures, total_ms = known.total_ms + excluded.total_ms,
       squared_ms = known.squared_ms + excluded.squared_ms, last_at = greatest(known.last_at, excluded.last_at)`,
    columnsOf(units, [
      (unit) => unit.rolloutId,
      (unit) => clean(unit.arm),
      (unit) => clean(unit.unitKind),
      (unit) => clean(unit.unitHash),
      (unit) => clean(unit.version),
      (unit) => String(sign * unit.calls),
      (unit) => String(sign * unit.failures),
      (unit) => String(sign * unit.totalMs),
      (unit) => String(sign * unit.squaredMs),
      (unit) => unit.lastAt.toISOString(),
    ]),
    { prepare: true },
  )
}
