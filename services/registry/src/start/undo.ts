/** What was started, to be taken down in the opposite order. */
export type Undo = {
  readonly add: (what: string, step: () => Promise<unknown>, withinMs?: number) => void
  /** Takes everything down; a step that hangs or fails is told and left behind, so that the next ones still happen. */
  readonly unwind: () => Promise<void>
}

const usualMs = 1500

/** An empty list of things to take down. */
export function createUndo(say: (line: string) => void = (line) => void process.stderr.write(`repertoire: ${line}\n`)): Undo {
  const steps: { readonly what: string; readonly step: () => Promise<unknown>; readonly withinMs: number }[] = []
  return {
    add: (what, step, withinMs = usualMs) => void steps.push({ what, step, withinMs }),
    unwind: async () => {
      for (let next = steps.pop(); next !== undefined; next = steps.pop()) {
        const { what, step, withinMs } = next
        let timer: NodeJS.Timeout | undefined
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(new Error(`it took longer than ${withinMs} ms`)), withinMs)
        })
        await Promise.race([step(), late]).catch((error: unknown) =>
          say(`stopping the ${what} failed: ${error instanceof Error ? error.message : String(error)}`),
        )
        clearTimeout(timer)
      }
    },
  }
}
