import { SingleBar } from 'cli-progress'
import { isWatched, writeErr } from './terminal.ts'

/** Something that is shown until it is stopped. */
export type Waiting = { readonly stop: () => void }

// Most changes are everywhere within 8 ms: what would only flicker is not shown.
const shownAfterMs = 250
const everyMs = 100

/** Shows on standard error that replicas are waited for, and how long yet: a bar, or a line where nobody watches. */
export function showWaiting(waitMs: number, isQuiet: boolean): Waiting {
  if (isQuiet || waitMs === 0) return { stop: () => undefined }
  let shown: Waiting | undefined
  const timer = setTimeout(() => {
    shown = isWatched() ? startBar(waitMs) : sayLine(waitMs)
  }, shownAfterMs)
  return {
    stop: () => {
      clearTimeout(timer)
      shown?.stop()
    },
  }
}

function startBar(waitMs: number): Waiting {
  const bar = new SingleBar({
    format: 'waiting for all replicas [{bar}] {seconds} of {most} s',
    barCompleteChar: '=',
    barIncompleteChar: ' ',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
  })
  const most = (waitMs / 1000).toFixed(1)
  const startedAt = performance.now() - shownAfterMs
  const passed = (): number => Math.min(waitMs, performance.now() - startedAt)
  const payload = (): object => ({ seconds: (passed() / 1000).toFixed(1), most })
  bar.start(waitMs, passed(), payload())
  const timer = setInterval(() => bar.update(passed(), payload()), everyMs)
  return {
    stop: () => {
      clearInterval(timer)
      bar.stop()
    },
  }
}

function sayLine(waitMs: number): Waiting {
  writeErr(`waiting for all replicas, at most ${waitMs / 1000} s\n`)
  return { stop: () => undefined }
}
