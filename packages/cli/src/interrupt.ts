const signals = ['SIGINT', 'SIGTERM'] as const

/** Calls `stop` at the first signal to end; a second one ends the process as usual. Returns how to stop listening. */
export function onInterrupt(stop: () => void): () => void {
  const forget = (): void => {
    for (const signal of signals) process.off(signal, handle)
  }
  const handle = (): void => {
    forget()
    stop()
  }
  for (const signal of signals) process.on(signal, handle)
  return forget
}
