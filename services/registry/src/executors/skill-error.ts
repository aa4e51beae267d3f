import type { ExecutorResult } from '../ports.ts'

/** A skill's own no as it was brought: its texts may have any length. */
export type Brought = Omit<Extract<ExecutorResult, { readonly kind: 'skill_error' }>, 'kind' | 'details'> & {
  readonly details?: readonly string[]
}

const maxCode = 64
const maxMessage = 1024
const maxDetails = 20
const maxDetail = 500

/** A skill's own no with texts of a bounded length: whatever a skill writes becomes part of an answer and of a row. */
export function skillError({ code, message, retryable, details = [], effect }: Brought): ExecutorResult {
  return {
    kind: 'skill_error',
    code: code.slice(0, maxCode),
    message: message.slice(0, maxMessage),
    retryable,
    details: details.slice(0, maxDetails).map((detail) => ({ message: clipDetail(detail) })),
    effect,
  }
}

/** What somebody else wrote, as much of it as goes into a detail. */
export function clipDetail(text: string): string {
  return text.length > maxDetail ? `${text.slice(0, maxDetail)}…` : text
}
