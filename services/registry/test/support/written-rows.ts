import { writeEntries } from '../../src/log/write-entries.ts'
import type { NewCallRow } from '../../src/stored.ts'
import { newRow } from './new-row.ts'
import type { TestRegistry } from './test-registry.ts'

const hourMs = 3_600_000
let made = 0

/** A time so many hours ago, as a query takes it. */
export const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * hourMs).toISOString()

/** The row of a call of so many hours ago, whose id lies where its time does. */
export function rowAt(hoursAgo: number, change: Partial<NewCallRow>): NewCallRow {
  const ts = new Date(Date.now() - hoursAgo * hourMs)
  const time = ts.getTime().toString(16).padStart(12, '0')
  return newRow({ call_id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String((made += 1)).padStart(12, '0')}`, ts, ...change })
}

/** Writes rows as the drain does. */
export function writeRows(registry: TestRegistry, rows: readonly NewCallRow[]): Promise<void> {
  return writeEntries(
    registry.sql,
    rows.map((row) => ({ row })),
    registry.deps.snapshot().installId,
  )
}
