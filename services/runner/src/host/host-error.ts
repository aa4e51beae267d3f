/** A no of the host to a skill's code; unless the skill handles it, it is how the call ends. */
export class HostError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
