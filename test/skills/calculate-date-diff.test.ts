import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, hasPython, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let runner: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner()
})
afterAll(() => runner.close())

const call = (args: Record<string, unknown>) => runner.call('calculate-date-diff', args)
// A Wednesday, of all days.
const today = '2026-01-14'

describe.skipIf(!hasPython)('calculate-date-diff', () => {
  it.each([
    ['2024-02-28', '2024-03-01', 'days', 2, 0],
    ['2025-02-28', '2025-03-01', 'days', 1, 0],
    ['2023-03-01', '2024-03-01', 'days', 366, 0],
    ['2024-02-29', '2025-02-28', 'months', 12, 0],
    ['2024-02-29', '2025-03-01', 'months', 12, 1],
    ['2024-01-31', '2024-02-29', 'months', 1, 0],
    ['2024-01-31', '2024-02-28', 'months', 0, 28],
    ['2026-03-01', '2026-02-15', 'weeks', -2, 0],
    ['2026-01-01', '2026-01-20', 'weeks', 2, 5],
    ['2026-01-16', '2026-01-19', 'business_days', 1, 0],
    ['2026-01-17', '2026-01-18', 'business_days', 0, 0],
    ['2026-01-17', '2026-01-19', 'business_days', 1, 0],
    ['2026-01-19', '2026-01-16', 'business_days', -1, 0],
    ['2026-01-01', '2027-01-01', 'business_days', 261, 0],
    ['0001-01-01', '9999-12-31', 'days', 3_652_058, 0],
  ])('counts from %s to %s in %s: %d and %d', async (from, to, unit, difference, remainder_days) => {
    expect(dataOf(await call({ from, to, unit }))).toMatchObject({ difference, remainder_days })
  })

  it.each([
    ['today', '2026-01-14', 'today'],
    ['Tomorrow', '2026-01-15', 'tomorrow, where today is 2026-01-14'],
    ['the day before yesterday', '2026-01-12', 'day before yesterday, where today is 2026-01-14'],
    ['next wednesday', '2026-01-21', 'the first Wednesday after 2026-01-14'],
    ['wednesday', '2026-01-14', 'the first Wednesday from 2026-01-14 on, that day included'],
    ['last Monday', '2026-01-12', 'the latest Monday before 2026-01-14'],
    ['in 3 weeks', '2026-02-04', '3 weeks after 2026-01-14'],
    ['2 days ago', '2026-01-12', '2 days before 2026-01-14'],
    ['a month ago', '2025-12-14', '1 month before 2026-01-14'],
    ['in five working days', '2026-01-21', '5 business days after 2026-01-14'],
    ['end of the month', '2026-01-31', 'the last day of January 2026'],
    ['1st of March 2026', '2026-03-01', 'a date in words'],
    ['1.3.2026', '2026-03-01', 'a date, the day first and then the month'],
    ['2026-03-01T08:30:00Z', '2026-03-01', 'a date, without its time of day'],
  ])('takes %s for %s, and says so', async (to, to_date, to_understood) => {
    expect(dataOf(await call({ from: today, to, today }))).toMatchObject({ to_date, to_understood })
  })

  it('counts from the current day when none is given', async () => {
    const { from_date, difference } = dataOf(await call({ from: 'today', to: 'in 10 days' }))
    expect(difference).toBe(10)
    expect(Math.abs(Date.parse(String(from_date)) - Date.now())).toBeLessThan(2 * 86_400_000)
  })

  it.each([
    [{ from: '2025-02-29', to: today }, 'DATE_NOT_UNDERSTOOD', 'There is no day 2025-02-29.'],
    [{ from: today, to: '03/04/2026' }, 'DATE_NOT_UNDERSTOOD', 'may begin with the day or with the month'],
    [{ from: today, to: 'when pigs fly' }, 'DATE_NOT_UNDERSTOOD', 'next friday'],
    [{ from: 'today', to: today, today: '2026-13-01' }, 'DATE_NOT_UNDERSTOOD', '2026-13-01'],
    [{ from: today, to: 'in 999999 years', today }, 'DATE_OUT_OF_RANGE', '9999'],
    [{ from: today, to: '999999 weeks ago', today }, 'DATE_OUT_OF_RANGE', '9999'],
  ])('refuses %j with %s', async (args, code, message) => {
    expect(await call(args)).toMatchObject({ kind: 'refusal', code, message: expect.stringContaining(message), retryable: false })
  })
})
