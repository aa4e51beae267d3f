import type { Detail, ErrorCode, Finding } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'

/** The refusal of a publication, with every finding at once. */
export function refuseFindings(code: ErrorCode, name: string | undefined, findings: readonly Finding[]): Refusal {
  const errors = findings.filter((finding) => finding.level === 'error')
  const first = errors[0]
  const what = errors.length === 1 ? 'one problem' : `${errors.length} problems`
  return new Refusal(code, `${name ?? 'The skill'} cannot be published: ${what}.`, {
    ...(first === undefined
      ? {}
      : {
          hint: `${first.file}${first.line === null ? '' : `:${first.line}`}: ${first.message}${first.fix === null ? '' : ` — ${first.fix}`}`,
        }),
    details: errors.slice(0, 100).map(toDetail),
  })
}

function toDetail(finding: Finding): Detail {
  return {
    file: finding.file,
    message: finding.message,
    ...(finding.line === null ? {} : { line: finding.line }),
    ...(finding.fix === null ? {} : { fix: finding.fix }),
  }
}
