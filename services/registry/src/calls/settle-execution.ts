import type { Detail, ErrorEffect } from '@repertoire/contract'
import { Refusal, type VersionRecord } from '@repertoire/core'
import type { ExecutorResult } from '../ports.ts'

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

// What ends a call before anything of the skill has run.
const neverStarted = new Set([
  'EXECUTOR_UNREACHABLE',
  'bulkhead',
  'BUSY',
  'before_start',
  'CAGE_MISSING',
  'credential_missing',
  'path_argument',
  'executor_missing',
  'code_absent',
  'syntax_error',
  'missing_export',
])

/** Turns the end of the last attempt into what the caller is told: data, the skill's own refusal, or ours with what may have been done. */
export function settleExecution(result: ExecutorResult, version: VersionRecord, timeoutMs: number): Executed {
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
  const untouched = neverStarted.has(result.code) || neverStarted.has(result.reason)
  const called = `${version.manifest.name} ${version.version}`
  const message =
    result.code !== 'TIMEOUT'
      ? result.message
      : untouched
        ? `${called} was not begun: the ${timeoutMs} ms it may take had passed.`
        : `${called} did not answer within ${timeoutMs} ms and was ended.`
  throw new Refusal(result.code, message, {
    effect: untouched ? 'none' : effect,
    details: [{ reason: result.reason }, ...result.details],
    ...(result.code === 'BUSY' ? { headers: { 'Retry-After': '1' } } : {}),
  })
}
