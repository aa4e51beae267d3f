import { compileRedaction, redactPayload, writeKey, type RedactionPolicy } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import { median } from './measure.ts'

const rounds = 5
const kibibyte = 1024

/** What the redaction of a payload costs, where it finds nothing, where it finds something, and where it finds it hardest. */
export function measureRedaction(): { readonly what: string; readonly figure: string; readonly target: string }[] {
  const builtIn = policyOf([])
  const staffed = policyOf([{ name: 'staff', pattern: '\\bEMP-\\d{6}\\b', action: 'hash' }])
  const order = orders(1600)
  const hidden = order.replace('"note":"', `"password":"hunter2","note":"${writeKey('agent', new Uint8Array(64).fill(7))} `)
  const longest = Math.max(...Object.values(hardest).map((text) => micros(builtIn, text(128 * kibibyte), 3)))
  return [
    { what: 'redaction of 1.6 KB that hold nothing: CPU µs', figure: micros(builtIn, order, 20_000).toFixed(1), target: '≤ 10' },
    { what: '… that hold a key and a password', figure: micros(builtIn, hidden, 5000).toFixed(1), target: '–' },
    { what: '… that hold nothing, with a rule of the operator', figure: micros(staffed, order, 2000).toFixed(1), target: '–' },
    {
      what: 'redaction of 1 MiB of which a row keeps 64 KiB: CPU ms',
      figure: (micros(builtIn, orders(kibibyte ** 2), 20) / 1000).toFixed(2),
      target: '≤ 5',
    },
    { what: '… made up so that it takes longest', figure: (longest / 1000).toFixed(1), target: '≤ 50' },
  ]
}

// Beginnings of secrets that never end, and what comes near to being one.
const hardest: Readonly<Record<string, (bytes: number) => string>> = {
  digits: (bytes) => JSON.stringify('4111 '.repeat(bytes / 5)),
  oneNumber: (bytes) => JSON.stringify('4'.repeat(bytes)),
  addresses: (bytes) => JSON.stringify('://a:b'.repeat(bytes / 6)),
  userinfo: (bytes) => JSON.stringify(`https://${'a@'.repeat(bytes / 2)}`),
  keys: (bytes) => JSON.stringify('eyJ'.repeat(bytes / 3)),
  segments: (bytes) => JSON.stringify('eyJa.eyJb.'.repeat(bytes / 10)),
  blocks: (bytes) => JSON.stringify('-----BEGIN PRIVATE KEY'.repeat(bytes / 22)),
  names: (bytes) => JSON.stringify('password'.repeat(bytes / 8)),
  assigned: (bytes) => JSON.stringify('token = '.repeat(bytes / 8)),
  quotes: (bytes) => JSON.stringify('token="'.repeat(bytes / 8)),
  members: (bytes) => `{${Array.from({ length: bytes / 20 }, (_, n) => `"secretKey${n}":"a"`).join(',')}}`,
  escapes: (bytes) => `["${'\\u0041'.repeat(bytes / 6)}"]`,
  slashes: (bytes) => `["${'\\\\'.repeat(bytes / 2)}"]`,
  cards: (bytes) => JSON.stringify('4111111111111111 '.repeat(bytes / 17)),
}

function policyOf(rules: Parameters<typeof compileRedaction>[0]['rules']): RedactionPolicy {
  return compileRedaction({ rules, keys: [] }, (text) => createHmac('sha256', 'bench').update(text).digest('hex'))
}

function orders(bytes: number): string {
  const order = (n: number): string =>
    JSON.stringify({
      order_id: `A-${n}`,
      customer: 'Mustermann GmbH',
      amount: 12.5 * n,
      lines: [{ sku: `X${n}`, qty: n }],
      note: 'deliver on monday',
    })
  const text = Array.from({ length: Math.ceil(bytes / 100) }, (_, n) => order(n))
  let count = 0
  for (let size = 2; size < bytes; count += 1) size += (text[count]?.length ?? bytes) + 1
  return `[${text.slice(0, count).join(',')}]`
}

function micros(policy: RedactionPolicy, text: string, times: number): number {
  const bytes = Buffer.from(text)
  const found: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const start = process.cpuUsage()
    for (let n = 0; n < times; n += 1) redactPayload(policy, { bytes, maxBytes: 64 * kibibyte })
    // The first round warms up.
    const { user, system } = process.cpuUsage(start)
    if (round > 0) found.push((user + system) / times)
  }
  return median(found)
}
