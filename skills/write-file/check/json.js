/** Parses JSON; where that fails, says on which line. */
export function checkJson(text) {
  const found = { language: 'json', method: 'parse' }
  try {
    JSON.parse(text)
    return { ...found, ok: true }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const at = firstProblem(text)
    // Engines word their messages differently, and not all of them say where.
    if (at === undefined) return { ...found, ok: false, message: error.message.slice(0, 200) }
    return { ...found, ok: false, message: at.message, line: text.slice(0, at.offset).split('\n').length }
  }
}

const token = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w))|$)/y

/** Walks the tokens with a stack of what is open, and stops at the first one that may not stand there. */
function firstProblem(text) {
  const open = []
  let expects = 'value'
  token.lastIndex = 0
  for (;;) {
    const from = token.lastIndex
    const match = token.exec(text)
    if (match === null) return { offset: skipBlanks(text, from), message: sayStray(text.slice(skipBlanks(text, from))) }
    const [whole, mark, string] = match
    const offset = token.lastIndex - whole.trimStart().length
    const closes = mark === '}' || mark === ']'
    const value = whole.trim()
    if (value === '') return expects === 'end' ? undefined : { offset: lastInk(text), message: `the text ends where ${names[expects]} should follow` }
    const isFirst = expects === 'value-or-]' || expects === 'key-or-}'
    if (closes && (isFirst || expects === 'comma') && open.at(-1) === mark) open.pop()
    else if (mark === ',' && expects === 'comma') {
      expects = open.at(-1) === '}' ? 'key' : 'value'
      continue
    } else if (mark === ':' && expects === 'colon') {
      expects = 'value'
      continue
    } else if (string !== undefined && (expects === 'key' || expects === 'key-or-}')) {
      expects = 'colon'
      continue
    } else if ((mark === '{' || mark === '[') && (expects === 'value' || expects === 'value-or-]')) {
      open.push(mark === '{' ? '}' : ']')
      expects = mark === '{' ? 'key-or-}' : 'value-or-]'
      continue
    } else if (mark !== undefined || (expects !== 'value' && expects !== 'value-or-]')) return { offset, message: `${value.slice(0, 20)} stands where ${names[expects]} should` }
    expects = open.length === 0 ? 'end' : 'comma'
  }
}

const names = { value: 'a value', 'value-or-]': 'a value or ]', key: 'a key in double quotes', 'key-or-}': 'a key in double quotes or }', colon: 'a colon', comma: 'a comma or a closing bracket', end: 'nothing more' }

function sayStray(rest) {
  if (rest.startsWith('"')) return 'a string is not closed on its line, or holds an escape that JSON does not know'
  if (rest.startsWith("'")) return 'JSON takes double quotes only'
  if (rest.startsWith('//') || rest.startsWith('/*') || rest.startsWith('#')) return 'JSON takes no comments'
  if (rest.startsWith('\uFEFF')) return 'the text begins with a byte order mark'
  return `${/^[\w.+-]{1,20}|^./u.exec(rest)?.[0] ?? 'this'} is nothing that JSON knows`
}

function skipBlanks(text, from) {
  let at = from
  while (' \t\r\n'.includes(text[at] ?? 'x')) at += 1
  return at
}

function lastInk(text) {
  return text.trimEnd().length
}
