/** Text that is asked for piece by piece, none of them empty; undefined ends it. */
export type Pieces = { readonly next: () => Promise<string | undefined>; readonly close: () => void }

/** How a stream may be ended from outside, with last words that do not wait for its reader. */
export type Ending = { readonly signal: AbortSignal; readonly lastWords: () => string }

const waitingBytes = 64 * 1024

/** A body that is made as fast as it is read: nothing is asked for while so much of it waits. */
export function streamOf({ next, close }: Pieces, ending?: Ending): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  const end = (controller: ReadableStreamDefaultController<Uint8Array>, words?: string): void => {
    if (isOver) return
    isOver = true
    if (words !== undefined) controller.enqueue(encoder.encode(words))
    controller.close()
    close()
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => ending?.signal.addEventListener('abort', () => end(controller, ending.lastWords()), { once: true }),
      pull: async (controller) => {
        try {
          const piece = await next()
          if (isOver) return
          if (piece === undefined) end(controller)
          else controller.enqueue(encoder.encode(piece))
        } catch (error) {
          isOver = true
          close()
          throw error
        }
      },
      cancel: () => {
        isOver = true
        close()
      },
    },
    { highWaterMark: waitingBytes, size: (chunk) => chunk?.byteLength ?? 1 },
  )
}
