import type { Redaction } from '@repertoire/contract'
import { redactPayload, type RedactedPayload, type RedactionPolicy } from '@repertoire/core'
import type { NewCallRow } from '../stored.ts'
import type { CallEnd } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'

type Texts = Pick<
  NewCallRow,
  | 'trace_id'
  | 'session'
  | 'tenant'
  | 'parent_call_id'
  | 'skill'
  | 'requested_range'
  | 'unit_hash'
  | 'intent'
  | 'violations'
  | 'labels'
  | 'error_code'
  | 'error_message'
>

/** What a row keeps of all that callers, skills and upstreams wrote. */
type Kept = Texts & Pick<NewCallRow, 'input' | 'output' | 'truncated'> & { readonly redaction: Redaction }

const maxPayloadBytes = 64 * 1024

/** Takes the secrets out of a row: nothing that somebody else wrote goes past this, and when it fails, nothing of it is kept. */
export function redactCall(
  policy: RedactionPolicy,
  { call, row, end }: { readonly call: CallInProgress; readonly row: NewCallRow; readonly end: CallEnd },
): Kept {
  const schemas = call.schemas()
  const input = redactPart(policy, row.input, schemas.input)
  const output = redactPart(policy, end.output, schemas.output)
  const written = textsOf(row, end)
  const texts = isSilent(written) ? undefined : redactTexts(policy, written)
  const parts = [input, output, texts?.redacted].filter((part) => part !== undefined)
  const kept = texts?.kept ?? written
  const failed = parts.some((part) => part.failed)
  return {
    ...kept,
    // The name of a skill that is there is the registry's own.
    skill: row.version === null ? kept.skill : row.skill,
    input: failed ? null : (input?.bytes ?? null),
    output: failed ? null : (output?.bytes ?? null),
    truncated: parts.some((part) => part.cut),
    redaction: {
      rules: [...new Set(parts.flatMap((part) => part.rules))].sort(),
      count: parts.reduce((sum, part) => sum + part.count, 0),
      failed,
    },
  }
}

// Most calls bring nothing but their arguments.
function isSilent(texts: Texts): boolean {
  const { violations, labels, skill, ...others } = texts
  return skill === '' && violations.length === 0 && Object.keys(labels).length === 0 && Object.values(others).every((text) => text === null)
}

function redactTexts(policy: RedactionPolicy, written: Texts): { readonly redacted: RedactedPayload; readonly kept: Texts } {
  const json = Buffer.from(JSON.stringify(written))
  const redacted = redactPayload(policy, { bytes: json })
  return { redacted, kept: redacted.bytes === json ? written : readTexts(redacted) }
}

function redactPart(policy: RedactionPolicy, bytes: Uint8Array | null, schema: string | null): RedactedPayload | undefined {
  return bytes === null ? undefined : redactPayload(policy, { bytes, schema, maxBytes: maxPayloadBytes })
}

function textsOf(row: NewCallRow, end: CallEnd): Texts {
  const { trace_id, session, tenant, parent_call_id, requested_range, unit_hash, intent, violations, labels } = row
  const texts = { trace_id, session, tenant, parent_call_id, requested_range, unit_hash, intent, violations, labels }
  const error = { error_code: end.error?.code ?? null, error_message: end.error === null ? null : messageOf(end.error) }
  return { ...texts, skill: row.version === null ? row.skill : '', ...error }
}

// A message this long may have been cut by whoever brought it, in the middle of a secret: its last word is not kept.
const mayBeCutLength = 500

function messageOf({ origin, message }: NonNullable<CallEnd['error']>): string {
  return origin === 'registry' || message.length < mayBeCutLength ? message : message.replace(/(?<!\S)\S+$/, '…')
}

const nothing: Texts = {
  trace_id: null,
  session: null,
  tenant: null,
  parent_call_id: null,
  skill: '[redacted:failed]',
  requested_range: null,
  unit_hash: null,
  intent: null,
  violations: [],
  labels: {},
  error_code: null,
  error_message: null,
}

// What a rule drops is absent, and then it is as if it had never been there.
function readTexts({ bytes }: RedactedPayload): Texts {
  return bytes === null
    ? nothing
    : { ...nothing, skill: '[redacted]', ...(JSON.parse(Buffer.from(bytes).toString('utf8')) as Partial<Texts>) }
}
