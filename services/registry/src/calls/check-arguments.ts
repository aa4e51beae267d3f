import { explainViolations, Refusal, validatorFor, type VersionRecord } from '@repertoire/core'
import type { CallInProgress } from './call-in-progress.ts'
import type { CallInput } from './call.ts'

/** The arguments as the skill takes them, or INVALID_INPUT with what to change. Nothing is repaired on the way. */
export function checkArguments(call: CallInProgress, version: VersionRecord, { body, problem }: CallInput): Record<string, unknown> {
  if (problem !== undefined) {
    call.measured({ violations: [{ path: problem.path, rule: problem.rule }] })
    throw new Refusal('INVALID_INPUT', `The arguments of ${version.manifest.name} cannot be taken: ${problem.message}.`, {
      hint: problem.fix,
      details: [{ path: problem.path, rule: problem.rule, fix: problem.fix }],
    })
  }
  const args = body.arguments === undefined ? {} : body.arguments
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    call.measured({ violations: [{ path: '', rule: 'type' }] })
    throw new Refusal('INVALID_INPUT', 'arguments is a JSON object.', {
      hint: 'send {"arguments": {…}}',
      details: [{ path: '', rule: 'type', expected: 'object', got: args === null ? 'null' : Array.isArray(args) ? 'array' : typeof args }],
    })
  }
  const taken = args as Record<string, unknown>
  call.tookArguments(taken)
  const validator = validatorFor(version.inputSchema)
  if (validator.accepts(taken)) return taken
  const details = explainViolations(validator.problemsOf(taken, call.inputBytes()))
  call.measured({ violations: details.map((detail) => ({ path: detail.path ?? '', rule: detail.rule ?? '' })) })
  const example = version.manifest.examples[0]
  throw new Refusal('INVALID_INPUT', `The arguments do not satisfy the input schema of ${version.manifest.name} ${version.version}.`, {
    hint:
      example === undefined ? (details[0]?.fix ?? 'read the input schema') : `valid arguments look like ${JSON.stringify(example.params)}`,
    details,
  })
}
