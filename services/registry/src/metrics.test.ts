import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

const quiet = {
  revision: () => 7,
  snapshotAgeMs: () => 0,
  spooledBytes: () => 0,
  shownDropped: () => 0,
  skills: () => 1,
  strayRows: () => 3,
  replicasMissing: () => 0,
  quotaRefusals: () => 0,
}

describe('the metrics', () => {
  it('count refusals by code, however often they are asked for', async () => {
    const render = createMetrics({
      ...quiet,
      refusals: () =>
        new Map([
          ['RATE_LIMITED', 5],
          ['UNAUTHENTICATED', 2],
        ]),
    })
    await render()
    const { text } = await render()
    expect(text).toContain('repertoire_refusals_total{code="RATE_LIMITED"} 5\nrepertoire_refusals_total{code="UNAUTHENTICATED"} 2')
    expect(text).toContain('repertoire_default_partition_rows 3')
  })
})
