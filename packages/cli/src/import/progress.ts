import { SingleBar } from 'cli-progress'
import { isWatched, writeErr } from '../terminal.ts'

/** Shows how far an import has come, and that it waits for a registry which is busy or away. */
export type Progress = { readonly show: (handled: number) => void; readonly wait: () => void; readonly stop: () => void }

const plainEvery = 100

/** A bar where somebody watches standard error, otherwise a line every hundred folders; nothing with --quiet. */
export function createProgress(total: number, isQuiet: boolean): Progress {
  if (isQuiet) return { show: () => undefined, wait: () => undefined, stop: () => undefined }
  return isWatched() ? createBar(total) : createLines(total)
}

function createBar(total: number): Progress {
  const bar = new SingleBar({
    format: '[{bar}] {value} of {total} folders, {duration_formatted}{remark}',
    barCompleteChar: '=',
    barIncompleteChar: ' ',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: false,
  })
  bar.start(total, 0, { remark: '' })
  return {
    show: (handled) => bar.update(handled, { remark: '' }),
    wait: () => bar.update({ remark: ', waiting for the registry' }),
    stop: () => bar.stop(),
  }
}

function createLines(total: number): Progress {
  let told = 0
  let isWaiting = false
  return {
    show: (handled) => {
      const full = handled - (handled % plainEvery)
      if (full <= told) return
      told = full
      isWaiting = false
      writeErr(`${full} of ${total} folders handled\n`)
    },
    wait: () => {
      if (!isWaiting) writeErr('waiting for the registry: it is busy or away\n')
      isWaiting = true
    },
    stop: () => undefined,
  }
}
