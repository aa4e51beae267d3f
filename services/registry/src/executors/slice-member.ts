/** The text of one member of a JSON object, as it stands in the object's text; undefined when there is none of that name. */
export function sliceMember(text: string, name: string): string | undefined {
  let at = text.indexOf('{') + 1
  let found: string | undefined
  while (at > 0 && at < text.length) {
    at = skipSpace(text, at)
    if (text[at] !== '"') break
    const keyEnd = endOfValue(text, at)
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = endOfValue(text, valueStart)
    // Of a name that stands twice, the last counts, as it does for the parser.
    if (JSON.parse(text.slice(at, keyEnd)) === name) found = text.slice(valueStart, valueEnd).trimEnd()
    at = skipSpace(text, valueEnd) + 1
  }
  return found
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text[at] ?? '')) at += 1
  return at
}

// The text is known to be JSON, so counting brackets outside strings is enough.
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') {
      at += 1
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
      if (depth === 0) return at + 1
    } else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (char === ',' && depth === 0) return at
  }
  return text.length
}
