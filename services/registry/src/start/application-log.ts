import { redactPayload, type RedactionPolicy } from '@repertoire/core'
import { pino, type DestinationStream, type Logger } from 'pino'

/** What an application log is opened with. */
export type ApplicationLogOptions = { readonly level: string; readonly replica: string; readonly redaction: RedactionPolicy }

/** Opens the log of this process: JSON lines, each redacted as a whole, so that no error or stack can carry a secret past it. */
export function openApplicationLog({ level, replica, redaction }: ApplicationLogOptions, destination: DestinationStream): Logger {
  return pino({ level, base: { replica }, hooks: { streamWrite: (line) => redactLine(redaction, line) } }, destination)
}

/** A line of a log without its secrets. */
export function redactLine(redaction: RedactionPolicy, line: string): string {
  const { bytes } = redactPayload(redaction, { bytes: Buffer.from(line) })
  return bytes === null ? `${leftOut}\n` : Buffer.from(bytes).toString('utf8')
}

const leftOut = JSON.stringify({ level: 50, msg: 'a line of this log could not be redacted, and is left out' })
