/** The options of `repertoire calls`. */
export type CallsOptions = {
  readonly skill?: string
  readonly skillVersion?: string
  readonly agent?: string
  readonly outcome?: string
  readonly errorCode?: string
  readonly via?: string
  readonly rollout?: string
  readonly session?: string
  readonly trace?: string
  readonly minDurationMs?: number
  readonly from?: string
  readonly to?: string
  readonly since?: number
  readonly cursor?: string
  readonly limit?: number
}

/** The query of the call log for what was asked; a span ends now. */
export function callsQuery(options: CallsOptions, nowMs: number): Record<string, string | number | undefined> {
  const { skillVersion, errorCode, minDurationMs, since, from, ...same } = options
  return {
    ...same,
    version: skillVersion,
    error_code: errorCode,
    min_duration_ms: minDurationMs,
    from: since === undefined ? from : new Date(nowMs - since).toISOString(),
  }
}
