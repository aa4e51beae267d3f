/** One event of a stream: where it stands, what it is, and its data. Comments carry a place alone. */
export type StreamEvent = { readonly id: string | undefined; readonly event: string | undefined; readonly data: string }

/** Takes a stream of server-sent events apart. */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = ''
  for await (const piece of text) {
    const parts = (rest + piece).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) yield toEvent(part)
  }
}

function toEvent(part: string): StreamEvent {
  const lines = part.split('\n')
  const of = (name: string): string | undefined => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  return { id: of('id'), event: of('event'), data: of('data') ?? '' }
}
