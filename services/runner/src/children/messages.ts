import { RunFailureReason } from '@repertoire/contract'
import { z } from 'zod'

/** What a skill's process says: it asks the host for something, or it is done, one way or another. */
export const ChildMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('host'), id: z.number(), name: z.string(), args: z.unknown() }),
  z.object({ type: z.literal('done'), json: z.string() }),
  z.object({
    type: z.literal('skill_error'),
    code: z.string().max(64),
    message: z.string(),
    retryable: z.boolean().default(false),
    details: z.array(z.string()).default([]),
    effect: z.enum(['none', 'possible']).default('possible'),
  }),
  z.object({ type: z.literal('failed'), reason: RunFailureReason, message: z.string(), trace: z.string().optional() }),
])
export type ChildMessage = z.infer<typeof ChildMessage>

/** Reads messages, one a line; a line that is not one ends the conversation, and so does one that is too long. */
export async function* readMessages(channel: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<ChildMessage | 'too_large'> {
  let pending: Buffer[] = []
  let bytes = 0
  for await (const chunk of channel) {
    let rest = chunk
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = Buffer.concat([...pending, rest.subarray(0, at)]).toString('utf8')
      pending = []
      bytes = 0
      rest = rest.subarray(at + 1)
      const message = parse(line)
      if (message === undefined) return
      yield message
    }
    if (rest.length > 0) pending.push(rest)
    bytes += rest.length
    if (bytes > maxBytes) return yield 'too_large'
  }
}

function parse(line: string): ChildMessage | undefined {
  try {
    const parsed = ChildMessage.safeParse(JSON.parse(line))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
