import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'

/** What is measured at the moment somebody asks. */
export type Measured = {
  readonly revision: () => number
  readonly snapshotAgeMs: () => number
  readonly spooledBytes: () => number
  readonly shownDropped: () => number
  readonly skills: () => number
  readonly strayRows: () => number
  readonly replicasMissing: () => number
  readonly quotaRefusals: () => number
  /** How often each code was answered since this process began. */
  readonly refusals: () => ReadonlyMap<string, number>
}

/** The metrics of this process in the Prometheus text format. */
export function createMetrics(measured: Measured): () => Promise<{ readonly type: string; readonly text: string }> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  gauge('repertoire_revision', 'Revision of the catalogue this replica holds', measured.revision)
  gauge('repertoire_snapshot_age_seconds', 'Seconds since the database last confirmed it', () => measured.snapshotAgeMs() / 1000)
  gauge('repertoire_skills', 'Skills in the catalogue', measured.skills)
  gauge('repertoire_spool_bytes', 'Bytes of call rows on this disk that Postgres does not have yet', measured.spooledBytes)
  gauge('repertoire_shown_dropped', 'Events about what was shown that were dropped', measured.shownDropped)
  gauge('repertoire_default_partition_rows', 'Rows of the log in a default partition, of which up to 1 000 are counted', measured.strayRows)
  gauge('repertoire_replicas_missing', 'Replicas silent for five minutes that may have calls on their disks', measured.replicasMissing)
  gauge('repertoire_quota_refusals', 'Calls that this replica refused because a quota was used up', measured.quotaRefusals)
  new Counter({
    name: 'repertoire_refusals_total',
    help: 'Requests that were refused, by code; those at the door (401, 429, 503) have no row in the call log',
    labelNames: ['code'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [code, count] of measured.refusals()) this.inc({ code }, count)
    },
  })
  return async () => ({ type: registry.contentType, text: await registry.metrics() })
}
