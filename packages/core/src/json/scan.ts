/** Something in a JSON text that `JSON.parse` would change or lose without a word. */
export type JsonProblem = { readonly path: string; readonly rule: string; readonly message: string; readonly fix: string }

type Frame = { readonly kind: 'object' | 'array'; readonly keys: Set<string>; segment: string; index: number; expectKey: boolean }

/**
 * One linear scan of a valid JSON text for what parsing hides: duplicate keys, integers beyond 2^53−1, numbers that overflow,
 * U+0000, lone surrogates and depth. Undefined when there is nothing to refuse.
 */
export function scanJson(text: string, maxDepth: number): JsonProblem | undefined {
  const stack: Frame[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at]
    const top = stack.at(-1)
    if (char === '{' || char === '[') {
      if (stack.length >= maxDepth)
        return { path: pathOf(stack), rule: 'depth', message: `the JSON is nested deeper than ${maxDepth}`, fix: 'send a flatter value' }
      stack.push({ kind: char === '{' ? 'object' : 'array', keys: new Set(), segment: '', index: 0, expectKey: char === '{' })
      at += 1
    } else if (char === '}' || char === ']') {
      stack.pop()
      at += 1
    } else if (char === ',') {
      if (top?.kind === 'object') top.expectKey = true
      else if (top !== undefined) top.index += 1
      at += 1
    } else if (char === '"') {
      const end = endOfString(text, at)
      const problem = scanString(text.slice(at, end), top, stack)
      if (problem !== undefined) return problem
      at = end
    } else if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) {
      const end = endOfNumber(text, at)
      const problem = scanNumber(text.slice(at, end), stack)
      if (problem !== undefined) return problem
      at = end
    } else at += 1
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && /[0-9.eE+-]/.test(text[at] ?? '')) at += 1
  return at
}

function scanString(raw: string, top: Frame | undefined, stack: readonly Frame[]): JsonProblem | undefined {
  const value = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1)
  const isKey = top?.kind === 'object' && top.expectKey
  if (isKey) {
    top.segment = value
    top.expectKey = false
    if (value === '__proto__')
      return { path: pathOf(stack), rule: 'reserved_key', message: 'the key __proto__ is not taken', fix: 'choose another name' }
    if (top.keys.has(value))
      return {
        path: pathOf(stack),
        rule: 'duplicate_key',
        message: `the key ${JSON.stringify(value)} stands twice in one object`,
        fix: 'keep one of them',
      }
    top.keys.add(value)
  }
  if (value.includes('\u0000'))
    return {
      path: pathOf(stack),
      rule: 'nul_character',
      message: 'a string contains U+0000',
      fix: 'remove the character, or send the bytes as base64',
    }
  if (!value.isWellFormed())
    return {
      path: pathOf(stack),
      rule: 'lone_surrogate',
      message: 'a string contains half of a surrogate pair',
      fix: 'send whole characters, or the bytes as base64',
    }
  return undefined
}

function scanNumber(token: string, stack: readonly Frame[]): JsonProblem | undefined {
  const value = Number(token)
  if (!Number.isFinite(value))
    return {
      path: pathOf(stack),
      rule: 'number_overflow',
      message: `the number ${clip(token)} is too large for a double`,
      fix: 'send it as a string',
    }
  const isInteger = !/[.eE]/.test(token)
  if (isInteger && !Number.isSafeInteger(value))
    return {
      path: pathOf(stack),
      rule: 'unsafe_integer',
      message: `the integer ${clip(token)} is beyond 2^53−1 and would be rounded`,
      fix: 'send it as a string',
    }
  return undefined
}

function pathOf(stack: readonly Frame[]): string {
  return stack
    .map((frame) => `/${frame.kind === 'array' ? frame.index : frame.segment.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

function clip(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
