import { RunResult, type CodeBundle, type RunFailureReason } from '@repertoire/contract'
import { Pool } from 'undici'
import { isConnectFailure } from './connect-failure.ts'
import type { Execution, Executor, ExecutorResult } from '../ports.ts'
import type { KeptFiles } from './kept-files.ts'
import { clipDetail, skillError } from './skill-error.ts'

/** Carries calls out by the runner, which listens on a UNIX socket and keeps code by its digest. */
export function createCodeExecutor(socketPath: string, filesOf: KeptFiles['of']): Executor & { readonly close: () => Promise<void> } {
  const runner = new Pool('http://runner', { socketPath, pipelining: 1, connect: { timeout: 2000 } })
  return {
    execute: async (execution) => {
      const deadline = performance.now() + execution.timeoutMs
      try {
        const first = await run(runner, execution, execution.timeoutMs)
        if (first.kind !== 'failed' || first.reason !== 'code_absent') return toExecutorResult(first, execution)
        const leftMs = (): number => Math.max(1, deadline - performance.now())
        // Whatever kept the code from the runner, nothing of it has run.
        const isSent = await sendCode(runner, { ...execution, timeoutMs: leftMs() }, filesOf).then(
          () => true,
          () => false,
        )
        if (performance.now() >= deadline) return { ...late, reason: 'before_start' }
        return toExecutorResult(isSent ? await run(runner, execution, leftMs()) : first, execution)
      } catch (error) {
        if (execution.signal?.aborted === true)
          return {
            kind: 'failed',
            code: 'EXECUTOR_FAILED',
            reason: 'cancelled',
            message: 'The call was ended before its answer came.',
            details: [],
          }
        if (error instanceof Error && error.name === 'TimeoutError') return late
        if (isConnectFailure(error))
          return {
            kind: 'failed',
            code: 'EXECUTOR_UNREACHABLE',
            reason: 'runner',
            message: 'The runner could not be reached.',
            details: [],
          }
        return {
          kind: 'failed',
          code: 'EXECUTOR_FAILED',
          reason: 'killed',
          message: `The runner ended while ${execution.version.manifest.name} was running.`,
          details: [],
        }
      }
    },
    close: () => runner.destroy(),
  }
}

const late = { kind: 'failed', code: 'TIMEOUT', reason: 'deadline', message: 'The deadline passed.', details: [] } as const

// The runner ends a skill at its deadline; ours is only for a runner that does not answer at all.
const graceMs = 2000
const mostSendMs = 15_000

async function run(runner: Pool, execution: Execution, timeoutMs: number): Promise<RunResult> {
  const { version } = execution
  const silent = AbortSignal.timeout(Math.ceil(timeoutMs) + graceMs)
  const response = await runner.request({
    path: '/runs',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      code_digest: version.digest,
      entry: version.entry ?? '',
      skill: version.manifest.name,
      tags: version.manifest.permission,
      arguments: execution.arguments,
      timeout_ms: Math.ceil(timeoutMs),
      max_result_bytes: execution.maxResultBytes,
      call_id: execution.callId,
      traceparent: execution.traceparent,
    }),
    // The runner ends a skill whose request is gone.
    signal: execution.signal === null ? silent : AbortSignal.any([silent, execution.signal]),
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return RunResult.parse(await response.body.json())
}

async function sendCode(runner: Pool, execution: Execution, filesOf: KeptFiles['of']): Promise<void> {
  const files: Record<string, string> = {}
  for (const [path, bytes] of await filesOf(execution.version)) files[path] = Buffer.from(bytes).toString('base64')
  const bundle: CodeBundle = { files }
  const timeUp = AbortSignal.timeout(Math.ceil(Math.min(execution.timeoutMs, mostSendMs)))
  const response = await runner.request({
    path: `/code/${execution.version.digest}`,
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bundle),
    signal: execution.signal === null ? timeUp : AbortSignal.any([timeUp, execution.signal]),
  })
  await response.body.dump()
  if (response.statusCode !== 204) throw new Error(`the runner refused the code with ${response.statusCode}`)
}

const sentences: Record<RunFailureReason, string> = {
  code_absent: 'lost its code on the way to the runner',
  busy: 'has to wait: the runner has no free place',
  timeout: 'did not answer in time',
  syntax_error: 'has code that does not parse',
  missing_export: 'has code that exports no function run',
  not_json: 'answered with something that is not JSON',
  threw: 'ended with an error',
  too_large: 'answered with more than a result may have',
  killed: 'ended without an answer',
  interpreter_missing: 'needs an interpreter that is not installed',
}

function toExecutorResult(result: RunResult, { version }: Execution): ExecutorResult {
  if (result.kind === 'result') return { kind: 'result', json: Buffer.from(result.json) }
  if (result.kind === 'skill_error') return skillError(result)
  const name = `${version.manifest.name} ${version.version}`
  const code =
    result.reason === 'timeout'
      ? 'TIMEOUT'
      : result.reason === 'busy'
        ? 'BUSY'
        : result.reason === 'interpreter_missing'
          ? 'CAGE_MISSING'
          : 'EXECUTOR_FAILED'
  return {
    kind: 'failed',
    code,
    reason: result.reason,
    message: `${name} ${sentences[result.reason]}.`,
    details: [{ message: clipDetail(result.message) }],
  }
}
