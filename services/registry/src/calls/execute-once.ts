import type { CallBody, Detail, ErrorEffect } from '@repertoire/contract'
import { Refusal, type Admission, type VersionRecord } from '@repertoire/core'
import type { Deps, ExecutorResult } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'

/** What is to be executed, with what. */
export type ToExecute = { readonly admission: Admission; readonly args: Record<string, unknown>; readonly body: CallBody }

/** What came back: the result's exact bytes, or a refusal of the skill's own. */
export type Executed =
  | { readonly kind: 'data'; readonly json: Uint8Array }
  | {
      readonly kind: 'skill_error'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly retryable: boolean
        readonly details: readonly Detail[]
        readonly effect: ErrorEffect
      }
    }

const hardCapBytes = 32 * 1024 * 1024

/** Executes a resolved call before its deadline; a playbook answers with its instructions. */
export async function executeOnce(deps: Deps, call: CallInProgress, { admission, args, body }: ToExecute): Promise<Executed> {
  const { version } = admission.resolved
  if (version.kind === 'playbook') {
    call.measured({ executor: 'playbook', attempts: 1, executor_ms: 0 })
    return {
      kind: 'data',
      json: Buffer.from(
        JSON.stringify({
          instructions: version.instructions,
          unlocks: version.manifest.unlocks,
          files: version.files.map((file) => file.path),
        }),
      ),
    }
  }
  const isUnsandboxed = version.kind === 'code' && version.source !== 'folder'
  if (isUnsandboxed) refuseWithoutCage(deps, call, version)
  const timeoutMs = Math.min(body.timeout_ms ?? Number.POSITIVE_INFINITY, version.manifest.timeout_ms)
  const executor = version.manifest.executor
  const connectionName = executor !== undefined && executor.kind !== 'code' ? executor.connection : undefined
  const connection = connectionName === undefined ? undefined : call.snapshot.connections.get(connectionName)
  if (connectionName !== undefined && connection === undefined) {
    throw new Refusal(
      'EXECUTOR_FAILED',
      `${version.manifest.name} ${version.version} needs the connection ${connectionName}, and there is none of that name.`,
      { hint: `ask an admin: repertoire connections create ${connectionName} URL`, details: [{ reason: 'connection_missing' }] },
    )
  }
  const started = performance.now()
  const result = await deps.executors[version.kind].execute({
    callId: call.id,
    version,
    connection,
    timeoutMs,
    arguments: args,
    maxResultBytes: hardCapBytes,
    traceparent: call.traceparent,
  })
  call.measured({
    executor: isUnsandboxed ? 'code-unsandboxed' : version.kind,
    attempts: 1,
    executor_ms: Math.round((performance.now() - started) * 1000) / 1000,
  })
  return settle(result, version, timeoutMs)
}

// What ends a call before anything of the skill has run.
const neverStarted = new Set([
  'EXECUTOR_UNREACHABLE',
  'BUSY',
  'CAGE_MISSING',
  'credential_missing',
  'path_argument',
  'executor_missing',
  'code_absent',
  'syntax_error',
  'missing_export',
])

function settle(result: ExecutorResult, version: VersionRecord, timeoutMs: number): Executed {
  if (result.kind === 'result') return { kind: 'data', json: result.json }
  const effect: ErrorEffect = version.manifest.effects === 'read' ? 'none' : 'possible'
  if (result.kind === 'skill_error') {
    return {
      kind: 'skill_error',
      error: {
        code: result.code,
        message: result.message,
        retryable: result.retryable,
        details: result.details,
        effect: effect === 'none' || result.effect === 'none' ? 'none' : 'possible',
      },
    }
  }
  const message =
    result.code === 'TIMEOUT'
      ? `${version.manifest.name} ${version.version} did not answer within ${timeoutMs} ms and was ended.`
      : result.message
  const untouched = neverStarted.has(result.code) || neverStarted.has(result.reason)
  throw new Refusal(result.code, message, {
    effect: untouched ? 'none' : effect,
    details: [{ reason: result.reason }, ...result.details],
    ...(result.code === 'BUSY' ? { headers: { 'Retry-After': '1' } } : {}),
  })
}

function refuseWithoutCage(deps: Deps, call: CallInProgress, version: VersionRecord): void {
  if (!deps.settings.allowUnsandboxed) {
    throw new Refusal(
      'CAGE_MISSING',
      `${version.manifest.name} ${version.version} was published through the API, and its code does not run without a sandbox.`,
      {
        hint: "put the skill into the operator's own skills folder, or start the registry with REPERTOIRE_ALLOW_UNSANDBOXED=1",
      },
    )
  }
  call.warn({ code: 'unsandboxed', message: 'The code of this skill was published through the API and runs without a sandbox.' })
}
