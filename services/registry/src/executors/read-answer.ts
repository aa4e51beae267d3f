import type { ExecutorResult } from '../ports.ts'
import { decodeUtf8, withoutMark } from '../utf8.ts'
import { skillError } from './skill-error.ts'
import { sliceMember } from './slice-member.ts'

const maxClip = 500

/** Reads what an HTTP skill answered: its data, a refusal of its own in our envelope, or a failure with the upstream's text clipped. */
export function readAnswer(status: number, body: Buffer, skill: string): ExecutorResult {
  const value = parse(body)
  const refusal = ownRefusal(value)
  if (refusal !== undefined) return refusal
  if (status < 200 || status > 299) {
    return {
      kind: 'failed',
      code: 'EXECUTOR_FAILED',
      reason: 'upstream_status',
      message: `What carries ${skill} out answered with status ${status}.`,
      details: [{ expected: '2xx', got: String(status), message: clip(body) }],
      isTransient: status === 429 || status >= 500,
    }
  }
  // It said itself that it has nothing to say, as a deletion does that went well.
  if (status === 204 && body.length === 0) return { kind: 'result', json: Buffer.from('null') }
  if (value === undefined) {
    return {
      kind: 'failed',
      code: 'EXECUTOR_FAILED',
      reason: 'not_json',
      message: `What carries ${skill} out answered with something that is not JSON.`,
      details: [{ message: clip(body) }],
    }
  }
  // Cut out of what came, not written again: a number beyond 2^53 would come out as another one.
  if (isEnvelope(value) && value.ok === true)
    return { kind: 'result', json: Buffer.from(sliceMember(body.toString('utf8'), 'data') ?? 'null') }
  return { kind: 'result', json: body }
}

function parse(body: Buffer): unknown {
  try {
    const text = decodeUtf8(body)
    return text === undefined ? undefined : JSON.parse(withoutMark(text))
  } catch {
    return undefined
  }
}

type OwnEnvelope = {
  readonly ok: boolean
  readonly data?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly retryable?: unknown } | null
}

function isEnvelope(value: unknown): value is OwnEnvelope {
  return (
    typeof value === 'object' && value !== null && 'ok' in value && typeof value.ok === 'boolean' && ('data' in value || 'error' in value)
  )
}

function ownRefusal(value: unknown): ExecutorResult | undefined {
  if (!isEnvelope(value) || value.ok || typeof value.error !== 'object' || value.error === null || typeof value.error.code !== 'string')
    return undefined
  const message = typeof value.error.message === 'string' ? value.error.message : value.error.code
  return skillError({ code: value.error.code, message, retryable: value.error.retryable === true, effect: 'unknown' })
}

function clip(body: Buffer): string {
  const text = new TextDecoder().decode(body.subarray(0, maxClip))
  return body.length > maxClip ? `${text}…` : text
}
