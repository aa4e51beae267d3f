import { createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

type Received = { readonly from: string; readonly to: readonly string[]; readonly source: string }

const received: Received[] = []
let server: SMTPServer
let runner: RunnerUnderTest
beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => done(address === 'full@example.org' ? new Error('the mailbox is full') : undefined),
    onData: (stream, { envelope }, done) => {
      text(stream).then((source) => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          source,
        })
        done()
      }, done)
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  runner = await startRunner({
    smtp: { url: `smtp://127.0.0.1:${port}`, from: 'shop@example.com', recipients: ['mara@example.com', '@example.org'] },
  })
})
beforeEach(() => void received.splice(0))
afterAll(async () => {
  await runner.close()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})

const mail = { to: ['mara@example.com'], subject: 'Your order 71781', text: 'Hello Mara,\n\nit is on its way.\n' }

describe('send-email', () => {
  it('sends a mail that really arrives, from the sender of the operator', async () => {
    const answer = dataOf(await runner.call('send-email', { ...mail, cc: ['greta.holm@example.org'] }))
    expect(answer).toEqual({
      message_id: expect.stringMatching(/^<.+@.+>$/),
      accepted: ['mara@example.com', 'greta.holm@example.org'],
      rejected: [],
    })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ from: 'shop@example.com', to: ['mara@example.com', 'greta.holm@example.org'] })
    const [head = '', body = ''] = (received[0]?.source ?? '').split(/\r?\n\r?\n(.*)/s)
    expect(head).toContain('Subject: Your order 71781')
    expect(head).toContain('Cc: greta.holm@example.org')
    expect(head).toContain(`Message-ID: ${String(answer['message_id'])}`)
    expect(body.replaceAll('\r\n', '\n')).toBe(mail.text)
  })

  it('sends one mail to somebody who is named twice', async () => {
    await runner.call('send-email', { ...mail, to: ['mara@example.com', 'Mara@Example.com'], cc: ['mara@example.com'] })
    expect(received.map(({ to }) => to)).toEqual([['mara@example.com']])
  })

  it('sends nothing to anybody when one recipient is not on the list', async () => {
    const answer = await runner.call('send-email', { ...mail, cc: ['eve@elsewhere.test'] })
    expect(answer).toMatchObject({
      kind: 'refusal',
      code: 'RECIPIENT_NOT_ALLOWED',
      message: expect.stringContaining('eve@elsewhere.test'),
      retryable: false,
    })
    expect(await runner.call('send-email', { ...mail, to: ['eve@sub.example.org'] })).toMatchObject({ code: 'RECIPIENT_NOT_ALLOWED' })
    expect(received).toEqual([])
  })

  it('says which addresses the mail server refused, while it took the others', async () => {
    expect(dataOf(await runner.call('send-email', { ...mail, cc: ['full@example.org'] }))).toMatchObject({
      accepted: ['mara@example.com'],
      rejected: ['full@example.org'],
    })
    expect(received.map(({ to }) => to)).toEqual([['mara@example.com']])
  })

  it('takes no address with a name around it, and no second line in a subject', async () => {
    await expect(runner.call('send-email', { ...mail, to: ['Mara <mara@example.com>'] })).rejects.toThrow('takes no')
    await expect(runner.call('send-email', { ...mail, subject: 'Hello\r\nBcc: eve@elsewhere.test' })).rejects.toThrow('takes no')
  })

  it('refuses with MAIL_FAILED when the mail server is not there, and with MAIL_NOT_CONFIGURED when there is none', async () => {
    const closed = await unusedPort()
    const without = await startRunner()
    const unreachable = await startRunner({
      smtp: { url: `smtp://127.0.0.1:${closed}`, from: 'shop@example.com', recipients: ['mara@example.com'] },
    })
    expect(await without.call('send-email', mail)).toMatchObject({ kind: 'refusal', code: 'MAIL_NOT_CONFIGURED' })
    expect(await unreachable.call('send-email', mail)).toMatchObject({ kind: 'refusal', code: 'MAIL_FAILED', retryable: false })
    await without.close()
    await unreachable.close()
  })
})

async function unusedPort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
