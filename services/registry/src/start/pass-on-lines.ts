import type { Readable } from 'node:stream'

const maxLineLength = 64 * 1024

/** Passes on what a stream says, line by line, and what is left when it ends; a line that goes on for too long is left out. */
export function passOnLines(from: Readable, pass: (line: string) => void): void {
  let rest = ''
  let isTooLong = false
  const end = (line: string): void => {
    if (!isTooLong && line !== '') pass(`${line}\n`)
    isTooLong = false
  }
  from.setEncoding('utf8')
  from.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) end(line)
    if (rest.length <= maxLineLength) return
    rest = ''
    isTooLong = true
  })
  from.once('end', () => end(rest))
}
