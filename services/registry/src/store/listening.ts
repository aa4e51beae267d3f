import type postgres from 'postgres'

/** Hears what is told on a channel, and that listening has begun (again). */
export type Listener = { readonly channel: string; readonly onPayload: (payload: string) => void; readonly onListen?: () => void }

/** The one connection on which all channels of a replica are heard. */
export type Listening = {
  /** Listens on a channel; answers with a way to stop. */
  readonly listen: (listener: Listener, onError: (error: unknown) => void) => () => Promise<void>
  /** Listens again, on a new connection. */
  readonly again: () => void
}

/** Makes the listening half of a database; nothing is connected before the first listener. */
export function createListening(open: () => postgres.Sql): Listening {
  const subscriptions = new Set<() => void>()
  let client: postgres.Sql | undefined
  return {
    listen: ({ channel, onPayload, onListen }, onError) => {
      let isOver = false
      const subscribe = (): void => {
        client ??= open()
        const hear = (payload: string): void => {
          if (!isOver) onPayload(payload)
        }
        void client.listen(channel, hear, onListen).catch(onError)
      }
      subscriptions.add(subscribe)
      subscribe()
      return async () => {
        isOver = true
        subscriptions.delete(subscribe)
        if (subscriptions.size > 0) return
        const last = client
        client = undefined
        await last?.end({ timeout: 1 }).catch(() => undefined)
      }
    },
    again: () => {
      void client?.end({ timeout: 0 }).catch(() => undefined)
      client = undefined
      for (const subscribe of subscriptions) subscribe()
    },
  }
}
