import type { Detail } from '@repertoire/contract'
import type { ErrorObject } from 'ajv'
import { groupBy } from '../group-by.ts'
import { nearestName } from '../names.ts'

const maxDetails = 10
const maxConsidered = 100
// Names in a path are as long as whoever sent them likes, and each detail would say them several times.
const maxText = 300

/** What is wrong with a value, as an agent can act on it: at most ten details, a rename told as one. */
export function explainViolations(all: readonly ErrorObject[]): Detail[] {
  // An input may break a rule ten thousand times; what helps is in the first few.
  const errors = all.slice(0, maxConsidered)
  const missing = errors.filter((error) => error.keyword === 'required')
  const unknown = errors.filter((error) => error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties')
  const details: Detail[] = []
  const told = new Set<ErrorObject>()
  for (const error of missing) {
    const wanted = String(error.params['missingProperty'])
    const strangers = unknown.filter((other) => other.instancePath === error.instancePath && !told.has(other))
    const nameOf = (other: ErrorObject): string => String(other.params['additionalProperty'] ?? other.params['unevaluatedProperty'])
    const near =
      nearestName(wanted, strangers.map(nameOf)) ??
      (strangers.length === 1 && missing.length === 1 ? nameOf(strangers[0] as ErrorObject) : undefined)
    const stranger = strangers.find((other) => nameOf(other) === near)
    if (stranger !== undefined && near !== undefined) {
      told.add(stranger).add(error)
      details.push({
        path: `${error.instancePath}/${escape(near)}`,
        rule: 'required',
        expected: wanted,
        got: near,
        did_you_mean: wanted,
        fix: `rename ${near} to ${wanted}`,
      })
    }
  }
  const rest = leadingBranch(errors).filter((error) => !told.has(error))
  return [...details, ...rest.slice(0, maxDetails).map(detailOf)].slice(0, maxDetails).map(clipTexts)
}

function clipTexts(detail: Detail): Detail {
  const clip = (value: unknown): unknown => (typeof value === 'string' && value.length > maxText ? `${value.slice(0, maxText)}…` : value)
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, clip(value)]))
}

// Of a oneOf or anyOf that failed, only the branch with the fewest complaints is told.
function leadingBranch(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>()
  for (const union of errors) {
    if (union.keyword !== 'oneOf' && union.keyword !== 'anyOf') continue
    const prefix = `${union.schemaPath}/`
    const inside = errors.filter((error) => error.instancePath.startsWith(union.instancePath) && error.schemaPath.startsWith(prefix))
    if (inside.length === 0) continue
    const branches = groupBy(inside, (error) => error.schemaPath.slice(prefix.length).split('/')[0] ?? '')
    const [, ...others] = [...branches.values()].sort((a, b) => a.length - b.length)
    for (const error of others.flat()) dropped.add(error)
    dropped.add(union)
  }
  return errors.filter((error) => !dropped.has(error))
}

function detailOf(error: ErrorObject): Detail {
  const params = error.params as Record<string, unknown>
  const got = shorten(error.data)
  switch (error.keyword) {
    case 'required':
      return {
        path: error.instancePath,
        rule: 'required',
        expected: String(params['missingProperty']),
        fix: `add ${String(params['missingProperty'])}`,
      }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty'])
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
      const near = nearestName(name, known)
      return {
        path: `${error.instancePath}/${escape(name)}`,
        rule: error.keyword,
        got: name,
        allowed: known,
        fix: near === undefined ? `remove ${name}` : `rename ${name} to ${near}`,
        ...(near === undefined ? {} : { did_you_mean: near }),
      }
    }
    case 'enum':
      return { path: error.instancePath, rule: 'enum', allowed: (params['allowedValues'] as unknown[]).slice(0, 20), ...got }
    case 'type':
      return { path: error.instancePath, rule: 'type', expected: String(params['type']), ...got }
    default:
      return { path: error.instancePath, rule: error.keyword, expected: error.message ?? error.keyword, ...got }
  }
}

function shorten(value: unknown): { got: string } | Record<string, never> {
  // Of a large value its kind says enough.
  if (typeof value === 'object' && value !== null) return { got: Array.isArray(value) ? `an array of ${value.length}` : 'an object' }
  const text = JSON.stringify(value)
  if (text === undefined) return {}
  return { got: text.length > 80 ? `${text.slice(0, 80)}…` : text }
}

function escape(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}
