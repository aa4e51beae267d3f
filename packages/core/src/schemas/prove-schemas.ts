import type { Finding } from '@repertoire/contract'
import { compileSchema, type Validator } from './compile.ts'
import { explainViolations } from './explain.ts'
import { lineOfPath } from './locate.ts'

/** What is to be proved: that both schemas compile, and that every example satisfies them. Schemas come as text. */
export type SchemasToProve = {
  readonly input: { readonly file: string; readonly text: string }
  readonly output: { readonly file: string; readonly text: string } | null
  readonly examples: readonly { readonly params: unknown; readonly result?: unknown; readonly line: number | null }[]
}

/** Compiles both schemas and holds the examples against them. */
export function proveSchemas(schemas: SchemasToProve): Finding[] {
  const findings: Finding[] = []
  const input = tryCompile(schemas.input, findings)
  const output = schemas.output === null ? undefined : tryCompile(schemas.output, findings)
  for (const [index, example] of schemas.examples.entries()) {
    if (input !== undefined)
      findings.push(
        ...holds(input, example.params, { where: `examples[${index}].params`, line: example.line, schemaFile: schemas.input.file }),
      )
    if (output !== undefined && example.result !== undefined)
      findings.push(
        ...holds(output, example.result, {
          where: `examples[${index}].result`,
          line: example.line,
          schemaFile: schemas.output?.file ?? '',
        }),
      )
  }
  return findings
}

function tryCompile(schema: { readonly file: string; readonly text: string }, findings: Finding[]): Validator | undefined {
  try {
    const validator = compileSchema(schema.text)
    validator.accepts({})
    return validator
  } catch (error) {
    const message = (error instanceof Error ? error.message.split('\n')[0] : undefined)?.slice(0, 300) ?? 'unknown'
    const path = /data\/(\S+)/.exec(message)?.[1]?.split('/') ?? []
    findings.push({
      level: 'error',
      file: schema.file,
      line: lineOfPath(schema.text, path),
      message: `it is not a valid JSON Schema: ${message}`,
      fix: 'correct the keyword it names',
    })
    return undefined
  }
}

type Place = { readonly where: string; readonly line: number | null; readonly schemaFile: string }

function holds(validator: Validator, value: unknown, { where, line, schemaFile }: Place): Finding[] {
  if (validator.accepts(value)) return []
  const first = explainViolations(validator.problemsOf(value, 0))[0]
  const what =
    first === undefined
      ? 'it does not satisfy the schema'
      : `${first.path === '' ? 'it' : first.path} breaks the rule ${first.rule ?? '?'}${first.expected === undefined ? '' : ` (expected ${first.expected})`}`
  return [
    {
      level: 'error',
      file: 'SKILL.md',
      line,
      message: `${where} does not satisfy ${schemaFile}: ${what}`,
      fix: 'correct the example or the schema',
    },
  ]
}
