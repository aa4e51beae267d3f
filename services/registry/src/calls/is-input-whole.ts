import type { CallRow } from '@repertoire/contract'
import { createHmac } from 'node:crypto'
import type { Deps } from '../ports.ts'

/** Whether what a recorded call was given is kept as it was: what was cut or redacted has another hash. */
export function isInputWhole(deps: Deps, { input, input_sha256: hash }: CallRow): boolean {
  return input !== null && hash === createHmac('sha256', deps.settings.installSecret).update(JSON.stringify(input)).digest('hex')
}
