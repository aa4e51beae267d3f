import type { Outcome } from '@repertoire/contract'

/** Outcomes that are held against a version. */
export const failures: readonly Outcome[] = [
  'skill_error',
  'invalid_input',
  'executor_error',
  'output_mismatch',
  'timeout',
  'unknown',
  'registry_error',
]

/** Outcomes that say nothing about a version: refusals of ours for want of rights or room, and what its caller gave up. */
export const refusals: readonly Outcome[] = ['denied', 'not_resolved', 'busy', 'cancelled']
