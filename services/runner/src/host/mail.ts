import { createTransport } from 'nodemailer'
import { z } from 'zod'
import { HostError } from './host-error.ts'
import type { Opens } from './opens.ts'

const address = /^[^\s@<>,;:"()\\]{1,64}@[^\s@<>,;:"()\\]{1,255}$/

const Mail = z.object({
  to: z.array(z.string().regex(address)).min(1).max(50),
  cc: z.array(z.string().regex(address)).max(50).default([]),
  subject: z
    .string()
    .min(1)
    .max(998)
    .regex(/^[^\r\n]*$/),
  text: z.string().max(1024 * 1024),
})

/** The mail server, and who may be written to. */
export type MailHost = {
  readonly opens: Opens
  readonly smtp: { readonly url: string; readonly from: string; readonly recipients: readonly string[] } | undefined
}

/** Sends a mail to recipients on the operator's list. All of them are on it, or nothing is sent. */
export async function sendMail(
  { opens, smtp }: MailHost,
  args: unknown,
): Promise<{ message_id: string; accepted: string[]; rejected: string[] }> {
  if (!opens.mails) throw new HostError('MAIL_NOT_OPEN', 'No tag of this skill opens mail.')
  if (smtp === undefined) throw new HostError('MAIL_NOT_CONFIGURED', 'No mail server is set; an operator sets REPERTOIRE_SMTP_URL.')
  const parsed = Mail.safeParse(args)
  if (!parsed.success)
    throw new HostError(
      'MAIL_INVALID',
      `The mail is not right: ${parsed.error.issues[0]?.path.join('.') ?? ''} ${parsed.error.issues[0]?.message ?? ''}`,
    )
  const mail = parsed.data
  const closed = [...mail.to, ...mail.cc].filter((recipient) => !isListed(recipient, smtp.recipients))
  if (closed.length > 0)
    throw new HostError(
      'RECIPIENT_NOT_ALLOWED',
      `${closed.join(', ')} ${closed.length === 1 ? 'is' : 'are'} not on the list of recipients; an operator sets REPERTOIRE_SMTP_RECIPIENTS.`,
    )
  const transport = createTransport(smtp.url, {
    connectionTimeout: 5000,
    greetingTimeout: 5000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as object)
  try {
    const sent = await transport.sendMail({ from: smtp.from, to: mail.to, cc: mail.cc, subject: mail.subject, text: mail.text })
    return { message_id: sent.messageId, accepted: sent.accepted.map(String), rejected: sent.rejected.map(String) }
  } catch (error) {
    // A server that was never reached has sent nothing; after that, a second try might be a second mail.
    const neverReached = error instanceof Error && 'command' in error && error.command === 'CONN'
    throw new HostError('MAIL_FAILED', 'The mail server did not take the mail.', { effect: neverReached ? 'none' : 'possible' })
  } finally {
    transport.close()
  }
}

function isListed(recipient: string, list: readonly string[]): boolean {
  const lower = recipient.toLowerCase()
  return list.some((entry) =>
    entry.startsWith('@') ? lower.endsWith(entry) && lower.indexOf('@') === lower.length - entry.length : lower === entry,
  )
}
