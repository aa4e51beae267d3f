import { emptySnapshot } from '@repertoire/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { saveConfirmation, saveSnapshot } from '../src/store/saved-snapshot.ts'
import { createSnapshotSaver, type SnapshotSaver } from '../src/store/snapshot-saver.ts'

vi.mock('../src/store/saved-snapshot.ts', () => ({
  saveSnapshot: vi.fn<() => Promise<void>>(),
  saveConfirmation: vi.fn<() => Promise<void>>(),
}))
const save = vi.mocked(saveSnapshot)
const confirm = vi.mocked(saveConfirmation)
const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
let reports: number[]
let saver: SnapshotSaver
let started = 0
beforeEach(() => {
  vi.useFakeTimers()
  reports = []
  started = performance.now()
  save.mockReset()
  confirm.mockReset()
  saver = createSnapshotSaver('/nowhere', () => void reports.push(performance.now() - started))
})
afterEach(async () => {
  vi.useRealTimers()
  await saver.stop()
})

/** Lets seconds pass, in which the database confirms the catalogue every two. */
const pass = async (seconds: number, next: () => Parameters<SnapshotSaver['note']>[0]): Promise<void> => {
  for (let at = 0; at < seconds; at += 2) {
    saver.note(next())
    await vi.advanceTimersByTimeAsync(2000)
  }
}

describe('a catalogue that cannot be saved', () => {
  it('is tried after 5, 10, 20, 40 and then every 60 seconds, and told once a minute at most', async () => {
    const attempts: number[] = []
    save.mockImplementation(() => {
      attempts.push(Math.round((performance.now() - started) / 1000))
      return Promise.reject(full)
    })
    const known = { snapshot: { ...emptySnapshot, revision: 1 }, confirmedAt: 0 }
    await pass(300, () => known)
    expect(attempts).toEqual([0, 5, 15, 35, 75, 135, 195, 255])
    expect(reports.map((ms) => Math.round(ms / 1000))).toEqual([0, 75, 135, 195, 255])
  })
  it('is saved soon again once that works, and waits no longer than at first after the next failure', async () => {
    save.mockRejectedValueOnce(full).mockRejectedValueOnce(full).mockResolvedValue()
    let revision = 1
    const changing = (): Parameters<SnapshotSaver['note']>[0] => ({
      snapshot: { ...emptySnapshot, revision: (revision += 1) },
      confirmedAt: 0,
    })
    await pass(20, changing)
    const before = save.mock.calls.length
    await pass(10, changing)
    expect(save.mock.calls.length - before).toBeGreaterThanOrEqual(4)
    save.mockClear()
    save.mockRejectedValueOnce(full).mockResolvedValue()
    await pass(8, changing)
    expect([save.mock.calls.length >= 2, reports.length]).toEqual([true, 1])
  })
  it('is not tried at every confirmation when only that cannot be noted', async () => {
    save.mockResolvedValue()
    confirm.mockRejectedValue(full)
    const snapshot = { ...emptySnapshot, revision: 1 }
    await pass(120, () => ({ snapshot, confirmedAt: performance.now() }))
    expect([save.mock.calls.length, confirm.mock.calls.length <= 5, reports.length]).toEqual([1, true, 2])
  })
})
