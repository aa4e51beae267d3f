/**
 * Looks for the mistakes that break YAML most often: tabs in the indentation, quotes and brackets left open, text after
 * a closed one, a value with a second colon, and a top-level key twice. It is no parser: sound here may still be unsound.
 */
export function checkYaml(text) {
  const found = { language: 'yaml', method: 'basic' }
  const problem = firstProblem(text)
  return problem === undefined ? { ...found, ok: true } : { ...found, ok: false, message: problem.message, line: text.slice(0, problem.at).split('\n').length }
}

function firstProblem(text) {
  let keys = new Set()
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    const line = lineFrom(text, at)
    const indent = /^ */.exec(line)[0].length
    const rest = line.slice(indent).trimEnd()
    const isMarker = /^(---|\.\.\.)(?=\s|$)/.test(line)
    if (isMarker) keys = new Set()
    let ended = { at: nextLine(text, at) }
    if (isMarker) ended = readValue(text, { at: at + 3, column: -1 })
    else if (rest.startsWith('\t') && !/^\s*(#|$)/.test(rest)) return { at, message: 'a tab stands in the indentation; YAML takes spaces only' }
    else if (rest !== '' && !rest.startsWith('#') && !line.startsWith('%')) ended = readEntry(text, { at: at + indent, column: indent, keys })
    if (ended.message !== undefined) return ended
    at = ended.at
  }
  return undefined
}

/** Reads one entry of a block: its dashes, its key, and its value with all its lines. Answers where the next line begins. */
function readEntry(text, { at, column, keys }) {
  const dashes = /^(?:[-?:](?=[ \r\n]|$) *)*/.exec(lineFrom(text, at))[0]
  const keyColumn = column + dashes.length
  // What belongs to a dash is indented deeper than it; a value on a line of its own, at least as deep as it begins.
  const valueColumn = dashes === '' ? column - 1 : column + dashes.trimEnd().length - 1
  const from = at + dashes.length
  const key = readKey(text, from)
  if (key === undefined) return readValue(text, { at: from, column: valueColumn })
  if (keyColumn === 0 && key.name !== '<<') {
    if (keys.has(key.name)) return { at, message: `the key ${key.name.slice(0, 60)} stands twice at the top level` }
    keys.add(key.name)
  }
  return readValue(text, { at: key.end, column: keyColumn, isAfterKey: true })
}

/** A key is what a colon and a blank follow on its line. */
function readKey(text, at) {
  const quote = text[at]
  if (quote === '"' || quote === "'") {
    const end = closeQuote(text, at)
    return end === undefined || !/^[ ]*:(?=[\s]|$)/.test(text.slice(end, end + 80)) ? undefined : { name: text.slice(at + 1, end - 1), end: text.indexOf(':', end) + 1 }
  }
  if ('[{|>!#'.includes(quote)) return undefined
  const line = lineFrom(text, at)
  const colon = /:(?=\s|$)/.exec(line)
  const comment = /\s#/.exec(line)
  return colon === null || (comment !== null && comment.index < colon.index) ? undefined : { name: line.slice(0, colon.index).trim(), end: at + colon.index + 1 }
}

function readValue(text, { at, column, isAfterKey = false }) {
  const lead = /^[ \t]*(?:[&!][^\s,[\]{}]*(?:[ \t]+|(?=\s|$)))*/.exec(lineFrom(text, at))[0].length
  const from = at + lead
  const first = text[from]
  if (lineFrom(text, from).trim() === '' || first === '#') return { at: nextLine(text, from) }
  if (first === '|' || first === '>') return { at: skipIndented(text, nextLine(text, from), column) }
  if (first === '"' || first === "'") {
    const end = closeQuote(text, from)
    return end === undefined ? { at: from, message: `the quote ${first} is never closed` } : closeLine(text, end, 'a closing quote')
  }
  if (first === '[' || first === '{') {
    const closed = closeBrackets(text, from)
    return closed.message === undefined ? closeLine(text, closed.at, 'a closing bracket') : closed
  }
  if (first === '@' || first === '`') return { at: from, message: `a value cannot begin with ${first}; put it in quotes` }
  return readPlain(text, { from, column, isAfterKey })
}

// A value without quotes ends at a comment or where the indentation goes back, and holds no colon before a blank.
function readPlain(text, { from, column, isAfterKey }) {
  for (let at = from, isFirst = true; ; isFirst = false) {
    const line = lineFrom(text, at)
    const shown = line.split(/\s#/)[0]
    const colon = /:(?=\s|$)/.exec(shown)
    if (colon !== null && (isAfterKey || !isFirst)) return { at: at + colon.index, message: isFirst ? 'there is a second colon in the value; put the value in quotes' : 'a key stands deeper than the value above it' }
    const next = nextLine(text, at)
    if (shown.length < line.length || next >= text.length) return { at: next }
    const following = lineFrom(text, next)
    const indent = /^ */.exec(following)[0].length
    if (following.trim() !== '' && (indent <= column || following[indent] === '#' || following[indent] === '\t' || /^(---|\.\.\.)(\s|$)/.test(following))) return { at: next }
    at = next
  }
}

function closeLine(text, end, what) {
  const rest = lineFrom(text, end)
  // A key may be in quotes or brackets; what its value is, is not looked at here.
  return /^\s*($|:(\s|$)|\s#)/.test(rest) ? { at: nextLine(text, end) } : { at: end, message: `${rest.trim().slice(0, 20)} stands after ${what}` }
}

function closeQuote(text, at) {
  const quote = text[at]
  for (let end = at + 1; end < text.length; end += 1) {
    if (quote === '"' && text[end] === '\\') end += 1
    else if (text[end] === quote && quote === "'" && text[end + 1] === "'") end += 1
    else if (text[end] === quote) return end + 1
  }
  return undefined
}

function closeBrackets(text, from) {
  const open = []
  for (let at = from; at < text.length; at += 1) {
    const mark = text[at]
    const startsValue = /[\s,[{:]/.test(text[at - 1])
    if (mark === '[' || mark === '{') open.push({ closing: mark === '[' ? ']' : '}', at })
    else if (mark === ']' || mark === '}') {
      if (open.pop().closing !== mark) return { at, message: `${mark} closes a bracket of another kind` }
      if (open.length === 0) return { at: at + 1 }
    } else if (startsValue && (mark === '"' || mark === "'")) {
      const end = closeQuote(text, at)
      if (end === undefined) return { at, message: `the quote ${mark} is never closed` }
      at = end - 1
    } else if (mark === '#' && /\s/.test(text[at - 1])) at = nextLine(text, at) - 1
  }
  return { at: open[0].at, message: `the bracket ${text[open[0].at]} is never closed` }
}

function skipIndented(text, from, column) {
  let at = from
  while (at < text.length) {
    const line = lineFrom(text, at)
    if (line.trim() !== '' && /^ */.exec(line)[0].length <= column) break
    if (/^(---|\.\.\.)(\s|$)/.test(line)) break
    at = nextLine(text, at)
  }
  return at
}

function lineFrom(text, at) {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.slice(at) : text.slice(at, end)
}

function nextLine(text, at) {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}
