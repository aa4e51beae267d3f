import type { Envelope } from '@repertoire/contract/sdk'
import { RepertoireError } from './repertoire-error.ts'

/** An answer without an end, or one too long to hold: its text as it arrives. */
export type StreamedAnswer = { readonly status: number; readonly headers: Headers; readonly text: AsyncIterable<string> }

/** Reads the body of an answer as it arrives; an answer that is none is thrown as what it says. */
export async function openStream(response: Response): Promise<StreamedAnswer> {
  if (!response.ok) throw await refusalOf(response)
  return { status: response.status, headers: response.headers, text: readText(response) }
}

async function* readText(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  try {
    for (let chunk = await reader?.read(); chunk !== undefined && !chunk.done; chunk = await reader?.read()) {
      const text = decoder.decode(chunk.value as Uint8Array, { stream: true })
      if (text !== '') yield text
    }
  } catch (error) {
    if (error instanceof RepertoireError) throw error
    throw new RepertoireError({
      code: 'BROKEN_OFF',
      origin: 'network',
      effect: 'none',
      next: 'retry',
      message: 'The connection ended in the middle of the answer.',
      status: 0,
    })
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}

async function refusalOf(response: Response): Promise<RepertoireError> {
  const envelope = (await response.json().catch(() => undefined)) as Envelope<unknown> | undefined
  if (envelope?.ok === false) return new RepertoireError({ ...envelope.error, status: response.status, meta: envelope.meta })
  return new RepertoireError({
    code: 'NOT_A_REGISTRY',
    origin: 'network',
    effect: 'none',
    next: 'ask_human',
    message: 'What answered does not speak as a registry does.',
    hint: 'check the address',
    status: response.status,
  })
}
