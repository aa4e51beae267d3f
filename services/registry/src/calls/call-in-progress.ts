import { errorCatalogue, type Outcome, type Redaction, type Warning } from '@repertoire/contract'
import { joinRanges, type Admission, type Refusal, type Snapshot } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { NewCallRow } from '../stored.ts'
import type { Visit } from '../visit.ts'
import type { CallEnd, CallInput, CallMeta, Leaving } from './call.ts'
import type { Keyed } from './idempotency.ts'

/** A call between its admission and its row: what is known of it so far. */
export type CallInProgress = {
  readonly id: string
  readonly visit: Visit
  readonly startedAt: Date
  /** The catalogue the whole call is decided by. */
  readonly snapshot: Snapshot
  readonly traceparent: string | null
  readonly parentCallId: string | null
  readonly requestId: string
  /** How long the call may take in all, in milliseconds: the least of what its caller and its skill allow. */
  readonly timeoutMs: () => number
  /** What is left of that; at least 1. */
  readonly leftMs: () => number
  /** Whether its deadline has passed. */
  readonly isOver: () => boolean
  readonly queued: (ms: number) => void
  /** Notes the key this call has taken. */
  readonly claims: (keyed: Keyed) => void
  /** The key whose answer is still owed. */
  readonly claimed: () => Keyed | undefined
  readonly answeredItsKey: () => void
  readonly intended: () => void
  readonly hasIntent: () => boolean
  /** Notes who ended it while it ran. */
  readonly cancelled: () => void
  readonly resolvedTo: (admission: Admission) => void
  readonly warn: (warning: Warning) => void
  readonly measured: (part: Partial<Pick<NewCallRow, 'executor' | 'executor_ms' | 'attempts' | 'violations'>>) => void
  readonly tookArguments: (args: Record<string, unknown>) => void
  readonly meta: (outcome: Outcome) => CallMeta
  readonly endingOf: (refusal: Refusal) => CallEnd
  readonly row: (end: CallEnd) => NewCallRow
  /** The schemas of the version that was resolved, as text. */
  readonly schemas: () => { readonly input: string | null; readonly output: string | null }
  readonly elapsedMs: () => number
  readonly inputBytes: () => number
  readonly starts: () => void
  readonly hasStarted: () => boolean
  /** Whether the version that was resolved may be carried out only once. */
  readonly happensOnce: () => boolean
}

// The longest any skill may declare.
const longestMs = 300_000
const untouched: Redaction = { rules: [], count: 0, failed: false }

/** Opens a call: its id, its clock, and an empty record of it. */
export function beginCall(deps: Deps, visit: Visit, input: CallInput): CallInProgress {
  const { name, body } = input
  const id = deps.ids.next()
  const startedAt = deps.clock.now()
  // For its caller it began when it came, not when it was let in: that time is a part of its deadline and of what it took.
  const started = performance.now() - input.queuedMs
  const snapshot = deps.snapshot()
  const warnings: Warning[] = []
  let admission: Admission | undefined
  let measured: Partial<NewCallRow> = {}
  let given: Uint8Array | null = null
  let isCarriedOut = false
  let isCancelled = false
  let hasIntent = false
  let queuedMs = input.queuedMs
  let keyed: Keyed | undefined
  let isKeyAnswered = false
  const elapsedMs = (): number => Math.round((performance.now() - started) * 1000) / 1000
  const timeoutMs = (): number =>
    Math.min(
      body.timeout_ms ?? Number.POSITIVE_INFINITY,
      input.timeoutMs ?? Number.POSITIVE_INFINITY,
      admission?.resolved.version.manifest.timeout_ms ?? longestMs,
    )
  return {
    id,
    visit,
    startedAt,
    snapshot,
    traceparent: visit.traceparent,
    parentCallId: body.parent_call_id ?? null,
    requestId: visit.requestId,
    elapsedMs,
    timeoutMs,
    leftMs: () => Math.max(1, timeoutMs() - elapsedMs()),
    isOver: () => elapsedMs() >= timeoutMs(),
    queued: (ms) => void (queuedMs += ms),
    claims: (taken) => void (keyed = taken),
    claimed: () => (isKeyAnswered ? undefined : keyed),
    answeredItsKey: () => void (isKeyAnswered = true),
    intended: () => void (hasIntent = true),
    hasIntent: () => hasIntent,
    cancelled: () => void (isCancelled = true),
    inputBytes: () => given?.byteLength ?? 0,
    starts: () => void (isCarriedOut = true),
    hasStarted: () => isCarriedOut,
    happensOnce: () =>
      admission !== undefined && admission.resolved.version.manifest.effects === 'once' && admission.resolved.version.kind !== 'playbook',
    resolvedTo: (found) => {
      admission = found
      warnings.push(...found.resolved.warnings)
    },
    warn: (warning) => void warnings.push(warning),
    measured: (part) => void (measured = { ...measured, ...part }),
    tookArguments: (args) => void (given = Buffer.from(JSON.stringify(args))),
    meta: (outcome) => ({
      call_id: id,
      skill: admission?.skill.name ?? name,
      ...(admission === undefined ? {} : { version: admission.resolved.version.version, via: admission.resolved.via }),
      revision: snapshot.revision,
      outcome,
      duration_ms: Math.round(elapsedMs()),
      warnings,
      ...(admission?.resolved.version.status === 'deprecated' ? { leaving: leavingOf(admission) } : {}),
    }),
    endingOf: (refusal) => ({
      outcome: isCancelled ? 'cancelled' : outcomeOf(refusal),
      error: { code: refusal.code, origin: errorCatalogue[refusal.code].origin, message: refusal.message },
      output: null,
      effect: refusal.effect,
      ruleId: refusal.ruleId,
    }),
    schemas: () => ({
      input: admission?.resolved.version.inputSchema ?? null,
      output: admission?.resolved.version.outputSchema ?? null,
    }),
    row: (end) => ({
      call_id: id,
      ts: startedAt,
      replica: deps.settings.replica,
      trace_id: visit.traceparent === null ? null : (visit.traceparent.split('-')[1] ?? null),
      session: body.session ?? visit.session,
      tenant: visit.caller.tenant ?? body.tenant ?? visit.tenant,
      agent_id: visit.caller.id,
      key_id: visit.caller.keyId,
      on_behalf_of: visit.caller.onBehalfOf?.subject ?? null,
      parent_call_id: body.parent_call_id ?? null,
      playbook: null,
      skill: admission?.skill.name ?? name,
      requested_range: (admission === undefined ? body.range : joinRanges(admission.ranges)) ?? null,
      version: admission?.resolved.version.version ?? null,
      version_digest: admission?.resolved.version.digest ?? null,
      via: admission?.resolved.via ?? null,
      rollout_id: admission?.resolved.coin?.rolloutId ?? null,
      arm: admission?.resolved.coin?.arm ?? null,
      unit_kind: admission?.resolved.coin?.unitKind ?? null,
      unit_hash: admission?.resolved.coin?.unitValue ?? null,
      revision: snapshot.revision,
      executor: measured.executor ?? null,
      attempts: measured.attempts ?? 0,
      outcome: end.outcome,
      error_code: null,
      error_origin: end.error?.origin ?? null,
      error_message: null,
      violations: measured.violations ?? [],
      queue_ms: Math.round(queuedMs * 1000) / 1000,
      executor_ms: measured.executor_ms ?? null,
      total_ms: elapsedMs(),
      input_bytes: given?.byteLength ?? 0,
      output_bytes: end.output?.byteLength ?? 0,
      input_sha256: null,
      input: given,
      output: null,
      truncated: false,
      redaction: untouched,
      intent: body.intent ?? null,
      idempotency_key_hash: keyed?.keyHash ?? null,
      replay_of: input.replayOf,
      dry_run: body.dry_run,
      authz_rule: admission?.authorization.permit.ruleId ?? end.ruleId ?? null,
      labels: body.labels ?? {},
    }),
  }
}

function leavingOf({ skill, resolved: { version } }: Admission): Leaving {
  const { status, statusChangedAt, sunsetAt, replacement } = version
  return { name: skill.name, status, status_changed_at: statusChangedAt, sunset_at: sunsetAt, replacement }
}

function outcomeOf(refusal: Refusal): Outcome {
  switch (refusal.code) {
    case 'INVALID_INPUT':
      return 'invalid_input'
    case 'PERMISSION_DENIED':
      return 'denied'
    case 'SKILL_NOT_FOUND':
    case 'VERSION_NOT_FOUND':
    case 'NO_MATCHING_VERSION':
    case 'INVALID_RANGE':
    case 'VERSION_WITHDRAWN':
    case 'VERSION_CHANGED':
      return 'not_resolved'
    case 'OUTCOME_UNKNOWN':
      return 'unknown'
    case 'TIMEOUT':
      return 'timeout'
    case 'BUSY':
      return 'busy'
    case 'OUTPUT_SCHEMA_MISMATCH':
      return 'output_mismatch'
    case 'EXECUTOR_FAILED':
    case 'EXECUTOR_UNREACHABLE':
    case 'CAGE_MISSING':
      return 'executor_error'
    default:
      return 'registry_error'
  }
}
