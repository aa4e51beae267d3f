import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formatsPlugin from 'ajv-formats'
import { RE2JS } from 're2js'

/** A compiled schema: whether a value satisfies it, and what is wrong when it does not. */
export type Validator = {
  readonly accepts: (value: unknown) => boolean
  readonly problemsOf: (value: unknown, bytes: number) => readonly ErrorObject[]
}

// Ajv asks an expression for `test`, and tells expressions apart by their text: without it, all patterns would be one.
const linearRegExp = Object.assign(
  (pattern: string, _flags: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text: string): boolean => compiled.matcher(text).find(), toString: () => `/${pattern}/` }
  },
  { code: 'linearRegExp' },
)

const options: Options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  validateFormats: true,
  logger: false,
  code: { regExp: linearRegExp as unknown as NonNullable<NonNullable<Options['code']>['regExp']> },
}

const maxThoroughBytes = 16 * 1024

/** Compiles a schema given as text. Each gets a compiler of its own, so that no `$id` is shared between teams. */
export function compileSchema(text: string): Validator {
  const schema = JSON.parse(text) as Record<string, unknown>
  const quick = compileWith(schema, { ...options, allErrors: false, verbose: true })
  let thorough: ValidateFunction | undefined
  return {
    accepts: (value) => quick(value) === true,
    problemsOf: (value, bytes) => {
      // Finding everything that is wrong with a large value would cost far more than it helps.
      if (bytes > maxThoroughBytes) return quick(value) === true ? [] : (quick.errors ?? [])
      thorough ??= compileWith(schema, { ...options, allErrors: true, verbose: true })
      return thorough(value) === true ? [] : (thorough.errors ?? [])
    },
  }
}

function compileWith(schema: Record<string, unknown>, settings: Options): ValidateFunction {
  const isDraft07 = String(schema['$schema'] ?? '').includes('draft-07')
  const ajv = isDraft07 ? new Ajv(settings) : new Ajv2020(settings)
  const addFormats = formatsPlugin as unknown as (target: unknown) => void
  addFormats(ajv)
  return ajv.compile(schema)
}
