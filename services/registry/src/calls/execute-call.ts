import { Refusal, type Admission, type ConnectionRecord, type VersionRecord } from '@repertoire/core'
import type { Deps, Execution } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { executeWithRetry } from './execute-with-retry.ts'
import { holdPlace } from './hold-place.ts'
import { settleExecution, type Executed } from './settle-execution.ts'

/** What is to be executed, with what, and what ends it early. */
export type ToExecute = { readonly admission: Admission; readonly args: Record<string, unknown>; readonly signal: AbortSignal | null }

const hardCapBytes = 32 * 1024 * 1024

/** Executes a resolved call before its deadline, in a place of its own where the skill has few; a playbook answers with its instructions. */
export async function executeCall(deps: Deps, call: CallInProgress, { admission, args, signal }: ToExecute): Promise<Executed> {
  const { version } = admission.resolved
  if (version.kind === 'playbook') return tellPlaybook(call, version)
  const isUnsandboxed = version.kind === 'code' && version.source !== 'folder'
  if (isUnsandboxed) refuseWithoutCage(deps, call, version)
  const connection = connectionOf(call, version)
  const { kind } = version
  const work = async (held: AbortSignal | null): Promise<Executed> => {
    const started = performance.now()
    const attempt: Omit<Execution, 'timeoutMs'> = {
      callId: call.id,
      version,
      connection,
      arguments: args,
      maxResultBytes: hardCapBytes,
      traceparent: call.traceparent,
      signal: held,
      onQueued: (ms) => call.queued(ms),
    }
    const result = await executeWithRetry(deps, call, { kind, attempt })
    call.measured({
      executor: isUnsandboxed ? 'code-unsandboxed' : kind,
      executor_ms: Math.round((performance.now() - started) * 1000) / 1000,
    })
    return settleExecution(result, version, call.timeoutMs())
  }
  return holdPlace(deps, call, { version, skillKey: admission.skill.key, signal, work })
}

function tellPlaybook(call: CallInProgress, { instructions, manifest, files }: VersionRecord): Executed {
  call.measured({ executor: 'playbook', attempts: 1, executor_ms: 0 })
  return {
    kind: 'data',
    json: Buffer.from(JSON.stringify({ instructions, unlocks: manifest.unlocks, files: files.map((file) => file.path) })),
  }
}

function connectionOf(call: CallInProgress, { manifest }: VersionRecord): ConnectionRecord | undefined {
  const { executor } = manifest
  const name = executor !== undefined && executor.kind !== 'code' ? executor.connection : undefined
  if (name === undefined) return undefined
  const connection = call.snapshot.connections.get(name)
  if (connection !== undefined) return connection
  throw new Refusal(
    'EXECUTOR_FAILED',
    `${manifest.name} ${manifest.version} needs the connection ${name}, and there is none of that name.`,
    {
      hint: `ask an admin: repertoire connections create ${name} URL`,
      details: [{ reason: 'connection_missing' }],
    },
  )
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
