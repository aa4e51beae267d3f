import { LineCounter, parseDocument, type ParsedNode } from 'yaml'

/** The line a path of a JSON text stands on, counted from 1. JSON is YAML, so the YAML parser can say. */
export function lineOfPath(text: string, path: readonly string[]): number | null {
  if (path.length === 0) return 1
  const lines = new LineCounter()
  try {
    const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent' })
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as ParsedNode | undefined
      if (node?.range !== undefined && node.range !== null) return lines.linePos(node.range[0]).line
    }
  } catch {
    return null
  }
  return 1
}

/** The line a JSON parser stumbled on; null when it does not say. */
export function lineOfJsonError(text: string, error: unknown): number | null {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
  return position === undefined ? null : text.slice(0, Number(position)).split('\n').length
}
