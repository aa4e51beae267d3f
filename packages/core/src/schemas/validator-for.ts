import { compileSchema, type Validator } from './compile.ts'

// Recompiling a schema leaks memory in the compiler, and skills come and go, so validators are kept, but not for ever.
const maxKept = 2000
const kept = new Map<string, Validator>()

/** The validator of a schema given as text; each text is compiled once. */
export function validatorFor(text: string): Validator {
  const known = kept.get(text)
  if (known !== undefined) return known
  const validator = compileSchema(text)
  if (kept.size >= maxKept) {
    const oldest = kept.keys().next().value
    if (oldest !== undefined) kept.delete(oldest)
  }
  kept.set(text, validator)
  return validator
}
