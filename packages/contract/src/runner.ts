import { z } from 'zod'

/** The language of a skill's code, by its file's ending. */
export const CodeLanguage = z.enum(['js', 'ts', 'py'])
export type CodeLanguage = z.infer<typeof CodeLanguage>

/** What the registry asks the runner to carry out. The code is named by digest and sent once, separately. */
export const RunRequest = z.strictObject({
  code_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  entry: z.string(),
  skill: z.string(),
  tags: z.array(z.string()),
  arguments: z.record(z.string(), z.unknown()),
  timeout_ms: z.number().int().min(1),
  max_result_bytes: z.number().int().min(1),
  call_id: z.string(),
  traceparent: z.string().nullable(),
})
export type RunRequest = z.infer<typeof RunRequest>

/** The code of a version: its files as base64, by path. */
export const CodeBundle = z.strictObject({ files: z.record(z.string(), z.string()) })
export type CodeBundle = z.infer<typeof CodeBundle>

/** Why the runner could not bring a result. */
export const RunFailureReason = z.enum([
  'code_absent',
  'busy',
  'timeout',
  'syntax_error',
  'missing_export',
  'not_json',
  'threw',
  'too_large',
  'killed',
  'interpreter_missing',
])
export type RunFailureReason = z.infer<typeof RunFailureReason>

/** How a run ended: a result, a refusal of the skill's own with what it may have done by then, or a failure. `json` is the result's exact text. */
export const RunResult = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('result'), json: z.string(), run_ms: z.number() }),
  z.object({
    kind: z.literal('skill_error'),
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    details: z.array(z.string()),
    effect: z.enum(['none', 'possible']),
    run_ms: z.number(),
  }),
  z.object({ kind: z.literal('failed'), reason: RunFailureReason, message: z.string(), run_ms: z.number() }),
])
export type RunResult = z.infer<typeof RunResult>
