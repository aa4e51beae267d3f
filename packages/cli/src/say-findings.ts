import type { Detail, Finding } from '@repertoire/contract/sdk'
import { safeLine } from './safe-text.ts'

/** One finding on one line: file and line, what it is, and the fix. */
export function sayFinding(finding: Finding): string {
  const level = finding.level === 'error' ? '' : 'warning: '
  return safeLine(`${placeOf(finding)} ${level}${finding.message}${finding.fix === null ? '' : ` → ${finding.fix}`}`)
}

/** Where a finding points: a file, and its line where there is one. */
export function placeOf({ file, line }: Pick<Finding, 'file' | 'line'>): string {
  return `${file}${line === null ? '' : `:${line}`}`
}

/** A finding as a detail of an error. */
export function detailOf({ file, line, message, fix }: Finding): Detail {
  return { file, message, ...(line === null ? {} : { line }), ...(fix === null ? {} : { fix }) }
}
