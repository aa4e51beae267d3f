/** A text that is no JSON. */
export class NotJson extends Error {}

/** The end of a text of which only the beginning is known. */
export class EndOfPart extends Error {}

/** A place in a JSON text; `isPart` says that the text goes on where it ends here. */
export type JsonReader = { readonly text: string; readonly isPart: boolean; at: number }

/** Passes over white space and answers with the character behind it. */
export function peek(reader: JsonReader): string {
  const { text } = reader
  while (isSpace(text.charCodeAt(reader.at))) reader.at += 1
  if (reader.at < text.length) return text.charAt(reader.at)
  throw reader.isPart ? new EndOfPart() : new NotJson()
}

/** Takes a character that has to stand next. */
export function take(reader: JsonReader, char: string): void {
  if (peek(reader) !== char) throw new NotJson()
  reader.at += 1
}

/** Whether nothing but white space is left. */
export function isAtEnd(reader: JsonReader): boolean {
  while (isSpace(reader.text.charCodeAt(reader.at))) reader.at += 1
  return reader.at >= reader.text.length
}

/** Takes a string and answers with its text. One that is cut off is taken as far as it goes. */
export function takeString(reader: JsonReader): string {
  const { text, at: start } = reader
  const end = endOfString(text, start)
  reader.at = end ?? text.length
  if (end !== undefined) return decode(text.slice(start, end))
  if (!reader.isPart) throw new NotJson()
  // An escape that is cut off is left out.
  for (let stop = text.length; stop > text.length - 12 && stop > start; stop -= 1) {
    const value = tryDecode(`${text.slice(start, stop)}"`)
    if (value !== undefined) return value
  }
  throw new NotJson()
}

const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** Takes a number, `true`, `false` or `null`, and answers with its text. */
export function takeScalar(reader: JsonReader): string {
  scalar.lastIndex = reader.at
  const found = scalar.exec(reader.text)?.[0]
  if (found === undefined) throw reader.isPart && /^[\w.+-]{1,400}$/.test(reader.text.slice(reader.at)) ? new EndOfPart() : new NotJson()
  reader.at += found.length
  return found
}

/** Takes one value whole, without looking into it: the text of a string, or as it is written. One that is cut off is taken as far as it goes. */
export function takeWhole(reader: JsonReader): string {
  if (peek(reader) === '"') return takeString(reader)
  const start = reader.at
  try {
    skipValue(reader)
  } catch (error) {
    if (!(error instanceof EndOfPart)) throw error
    reader.at = reader.text.length
  }
  return reader.text.slice(start, reader.at)
}

// Only brackets and strings count.
function skipValue(reader: JsonReader): void {
  let depth = 0
  do {
    const char = peek(reader)
    if (char === '"') takeString(reader)
    else if (/[{[}\],:]/.test(char)) {
      depth += char === '{' || char === '[' ? 1 : char === '}' || char === ']' ? -1 : 0
      reader.at += 1
    } else takeScalar(reader)
  } while (depth > 0)
}

function endOfString(text: string, start: number): number | undefined {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === 92) slashes += 1
    if (slashes % 2 === 0) return quote + 1
  }
  return undefined
}

function decode(token: string): string {
  const value = token.includes('\\') ? tryDecode(token) : token.slice(1, -1)
  if (value === undefined) throw new NotJson()
  return value
}

function tryDecode(token: string): string | undefined {
  try {
    return String(JSON.parse(token))
  } catch {
    return undefined
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}
