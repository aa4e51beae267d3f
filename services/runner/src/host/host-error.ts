/** What a refusal of the host says beside its sentence. */
export type HostErrorTraits = { readonly retryable?: boolean; readonly effect?: 'none' | 'possible' }

/** A no of the host to a skill's code; unless the skill handles it, it is how the call ends. */
export class HostError extends Error {
  readonly code: string
  readonly retryable: boolean
  /** Whether the world may have changed all the same. */
  readonly effect: 'none' | 'possible'

  constructor(code: string, message: string, { retryable = false, effect = 'none' }: HostErrorTraits = {}) {
    super(message)
    this.code = code
    this.retryable = retryable
    this.effect = effect
  }
}
