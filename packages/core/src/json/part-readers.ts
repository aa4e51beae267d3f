/** Reads a JSON text that comes in pieces for some of its parts. */
export type PartReader = {
  /** Takes the next piece; false when no more is needed. */
  readonly read: (text: string) => boolean
  /** The parts that are whole by now. */
  readonly soFar: () => readonly string[]
  /** The parts that were asked for, as text; or why there are none. */
  readonly end: () => string[] | 'not_an_array' | 'too_large'
}

/** The first and last part wanted, counted from 0, and how many characters they may have together. */
export type PartSpan = { readonly from: number; readonly to: number; readonly mostCharacters: number }

/** Reads items of the array that a text is, each as its exact text. */
export function createItemReader({ from, to, mostCharacters }: PartSpan): PartReader {
  const found: string[] = []
  let depth = 0
  let isString = false
  let isEscaped = false
  let index = 0
  let current = ''
  let size = 0
  let isArray: boolean | undefined
  let isOver = false

  const endItem = (): void => {
    if (index >= from && index <= to && current.trim() !== '') found.push(current.trim())
    current = ''
    index += 1
    isOver ||= index > to
  }
  const keep = (char: string): void => {
    if (index < from || index > to) return
    current += char
    size += 1
  }
  const take = (char: string): void => {
    if (depth === 0) {
      depth = 1
      return
    }
    if (isString) {
      keep(char)
      if (isEscaped) isEscaped = false
      else if (char === '\\') isEscaped = true
      else if (char === '"') isString = false
      return
    }
    if (char === '"') isString = true
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    if (depth === 0) {
      endItem()
      isOver = true
    } else if (depth === 1 && char === ',') endItem()
    else keep(char)
  }
  return {
    read: (text) => {
      for (const char of text) {
        if (isArray === undefined) {
          if (/\s/.test(char)) continue
          isArray = char === '['
        }
        if (!isArray || isOver || size > mostCharacters) return false
        take(char)
      }
      return !isOver
    },
    soFar: () => found,
    end: () => (isArray !== true ? 'not_an_array' : size > mostCharacters ? 'too_large' : found),
  }
}

/** Reads lines: of the text that a result is when it is one JSON string, otherwise of the result as it is written. */
export function createLineReader({ from, to, mostCharacters }: PartSpan): PartReader {
  const found: string[] = []
  let line = 0
  let current = ''
  let size = 0
  let isText: boolean | undefined
  let escape = ''
  let isOver = false

  const take = (char: string): void => {
    if (char !== '\n') {
      if (line < from) return
      current += char
      size += 1
      return
    }
    endLine()
  }
  const endLine = (): void => {
    if (line >= from && line <= to) found.push(current)
    current = ''
    line += 1
    isOver ||= line > to
  }
  // One character of a JSON string: what is escaped comes out as what it stands for.
  const takeEscaped = (char: string): void => {
    if (escape === '' && char === '"') {
      endLine()
      isOver = true
    } else if (escape === '' && char !== '\\') take(char)
    else {
      escape += char
      const isWhole = escape.length === 2 ? escape !== '\\u' : escape.length === 6
      if (!isWhole) return
      const value = String(JSON.parse(`"${escape}"`))
      escape = ''
      take(value)
    }
  }
  return {
    read: (text) => {
      for (const char of text) {
        if (isText === undefined) {
          if (/\s/.test(char)) continue
          isText = char === '"'
          if (isText) continue
        }
        if (isOver || size > mostCharacters) return false
        if (isText) takeEscaped(char)
        else take(char)
      }
      return !isOver
    },
    soFar: () => found,
    end: () => {
      if (!isOver && line <= to) endLine()
      return size > mostCharacters ? 'too_large' : found
    },
  }
}
