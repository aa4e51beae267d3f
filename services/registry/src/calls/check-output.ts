import { explainViolations, Refusal, validatorFor, type VersionRecord } from '@repertoire/core'
import type { CallInProgress } from './call-in-progress.ts'
import type { ReadResult } from './read-result.ts'

/** Refuses an answer that does not satisfy the output schema its version declares. What satisfies it is passed on byte for byte. */
export function checkOutput(call: CallInProgress, version: VersionRecord, { value, json }: ReadResult): void {
  if (version.outputSchema === null || version.kind === 'playbook') return
  const validator = validatorFor(version.outputSchema)
  if (validator.accepts(value)) return
  const details = explainViolations(validator.problemsOf(value, json.byteLength))
  call.measured({ violations: details.map((detail) => ({ path: detail.path ?? '', rule: detail.rule ?? '' })) })
  throw new Refusal(
    'OUTPUT_SCHEMA_MISMATCH',
    `${version.manifest.name} ${version.version} answered with something its output schema does not allow.`,
    {
      hint: 'the arguments were right; the skill is at fault',
      effect: 'done',
      details,
    },
  )
}
