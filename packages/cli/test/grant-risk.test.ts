import { RepertoireError, Repertoire } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'
import { sendGrant } from '../src/send-grant.ts'

const warnings = [{ code: 'all_tag_classes', message: 'bot holds all three' }]
const refused = {
  code: 'ILLEGAL_TRANSITION',
  origin: 'registry',
  effect: 'none',
  next: 'fix_input',
  message: 'With this grant bot holds all three',
  details: [{ path: '/accept_risk', rule: 'tag_classes', expected: 'way_out', got: 'smtp' }],
}

/** Sends a grant to a registry that wants the risk accepted, with somebody there who types an answer, or nobody. */
async function send(typed: string | undefined, details = refused.details): Promise<{ sent: unknown[]; shown: string[]; outcome: unknown }> {
  const sent: unknown[] = []
  const shown: string[] = []
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    const body = JSON.parse(String(init.body)) as { accept_risk?: boolean }
    sent.push(body)
    const meta = { request_id: 'r', revision: 1, warnings }
    return body.accept_risk === true
      ? Response.json({ ok: true, data: { id: 'g1' }, error: null, meta }, { status: 201 })
      : Response.json({ ok: false, data: null, error: { ...refused, details }, meta }, { status: 409 })
  }
  const registry = new Repertoire({ url: 'http://registry', key: 'k', fetch: fetch as typeof globalThis.fetch })
  const print = {
    isJson: false,
    isQuiet: false,
    width: undefined,
    result: () => undefined,
    note: () => undefined,
    show: (asText: (width: number | undefined) => string) => void shown.push(asText(undefined)),
  }
  const ask = typed === undefined ? undefined : async (): Promise<string> => typed
  const outcome = await sendGrant({ registry: () => registry, print, ask }, '/v1/agents/bot/grants', { pattern: 'smtp' }).catch(
    (error: unknown) => error,
  )
  return { sent, shown, outcome }
}

describe('a grant of all classes', () => {
  it('is sent again with the risk accepted, once somebody who was told of it says yes', async () => {
    const { sent, shown, outcome } = await send('y')
    expect(sent).toEqual([{ pattern: 'smtp' }, { pattern: 'smtp', accept_risk: true }])
    expect(shown).toEqual([expect.stringMatching(/With this grant bot holds all three[^]*expected way_out, got smtp/)])
    expect(outcome).toMatchObject({ data: { id: 'g1' }, meta: { warnings } })
  })
  it('is not sent again where somebody says no, where nobody is there, and for another refusal', async () => {
    const no = await send('')
    expect([no.sent.length, no.outcome]).toEqual([1, expect.objectContaining({ code: 'DECLINED' })])
    for (const { sent, outcome } of [await send(undefined), await send('y', [])])
      expect([sent.length, outcome instanceof RepertoireError && outcome.code]).toEqual([1, 'ILLEGAL_TRANSITION'])
  })
})
