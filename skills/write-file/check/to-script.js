const name = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`
const string = String.raw`(?:"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*')`
const id = `(?:${name}|${string})`
const list = String.raw`\{\s*(?:${id}(?:\s+as\s+${id})?\s*(?:,\s*|(?=\})))*\}`
const source = String.raw`${string}(?:\s*with\s*\{[^{}]*\})?`
const star = String.raw`\*\s*as\s+${name}`
const end = String.raw`[^\S\n]*(?:;|(?=\n|\}|$))`

const forms = [
  { starts: 'import', form: String.raw`import\s*${source}${end}`, becomes: '0;' },
  { starts: 'import', form: String.raw`import(?:\s+${name}\s*(?:,\s*(?:${list}|${star}))?|\s*(?:${list}|${star}))\s*from\s*${source}${end}`, becomes: '0;' },
  { starts: 'export', form: String.raw`export\s*(?:${list}(?:\s*from\s*${source})?|\*\s*(?:as\s+${id}\s*)?from\s*${source})${end}`, becomes: '0;' },
  { starts: 'export', form: String.raw`export\s+default(?![\p{ID_Continue}$])`, becomes: '_default=' },
  { starts: 'export', form: String.raw`export\s+(?=(?:const|let|var|function|class|async)(?![\p{ID_Continue}$]))`, becomes: '' },
].map(({ starts, form, becomes }) => ({ starts, becomes, expression: new RegExp(form, 'uy') }))

/** Takes the import and export statements out of a module, so that a function may hold the rest; every line stays where it is. */
export function toScript(text) {
  const { clean, places } = findModuleSyntax(text)
  let script = ''
  let from = 0
  for (const { at, starts } of places) {
    const found = starts === 'import.meta' ? { length: 11, becomes: '_meta' } : matchForm(clean, { at, starts })
    // A statement that has none of the forms stays, and the engine complains about it.
    if (found === undefined || at < from) continue
    const taken = clean.slice(at, at + found.length)
    script += clean.slice(from, at) + found.becomes + taken.replace(/[^\n]/g, '')
    from = at + found.length
  }
  return { script: script + clean.slice(from), hasModuleSyntax: places.length > 0 }
}

function matchForm(clean, { at, starts }) {
  for (const { starts: wanted, expression, becomes } of forms) {
    if (wanted !== starts) continue
    expression.lastIndex = at
    const match = expression.exec(clean)
    if (match !== null) return { length: match[0].length, becomes }
  }
  return undefined
}

const beforeExpression = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'instanceof', 'do', 'else', 'yield', 'await', 'default', 'extends'])
const word = /[\p{ID_Start}$_\\#][\p{ID_Continue}$\u200c\u200d\\]*|\d[\w.]*/uy
const regex = /\/(?:[^\n/\\[]|\\[^\n]|\[(?:[^\n\]\\]|\\[^\n])*\])+\/[\w]*/y

/** Where statements of modules begin, and the text with its comments blanked. */
function findModuleSyntax(text) {
  const places = []
  const open = []
  let [clean, at, last] = ['', 0, { kind: 'operator', text: ';' }]
  const take = (length) => {
    clean += text.slice(at, at + length)
    at += length
  }
  const takeMatch = (expression) => {
    expression.lastIndex = at
    const match = expression.exec(text)?.[0]
    if (match !== undefined) take(match.length)
    return match
  }
  while (at < text.length) {
    const mark = text[at]
    if (text.startsWith('//', at) || text.startsWith('/*', at)) {
      const stop = text[at + 1] === '/' ? text.indexOf('\n', at) : text.indexOf('*/', at + 2) + 2
      const length = stop < 2 ? text.length - at : stop - at
      // A comment that is never closed stays, and the engine complains about it.
      clean += stop === 1 ? text.slice(at) : text.slice(at, at + length).replace(/[^\n]/g, ' ')
      at += length
    } else if (mark === '"' || mark === "'") {
      take(stringLength(text, at))
      last = { kind: 'value' }
    } else if (mark === '`' || (mark === '}' && open.at(-1)?.kind === 'template')) {
      if (mark === '}') open.pop()
      const length = templateLength(text, at)
      if (text[at + length - 1] === '{') open.push({ kind: 'template' })
      last = text[at + length - 1] === '{' ? { kind: 'operator', text: '(' } : { kind: 'value' }
      take(length)
    } else if (/\s/.test(mark)) take(1)
    else if (mark === '/' && last.kind === 'operator' && takeMatch(regex) !== undefined) last = { kind: 'value' }
    else {
      const start = clean.length
      const found = takeMatch(word)
      if (found === undefined) last = bracket(mark, { open, last }) ?? { kind: 'operator', text: mark }
      if (found === undefined) take(1)
      else {
        const isProperty = last.text === '.'
        if (!isProperty && found === 'import' && /^\s*\.\s*meta\b/.test(text.slice(at, at + 40))) {
          if (text.startsWith('.meta', at)) places.push({ at: start, starts: 'import.meta' })
        } else if (!isProperty && open.length === 0 && (found === 'export' || (found === 'import' && !/^\s*[(.]/.test(text.slice(at, at + 200))))) places.push({ at: start, starts: found })
        last = { kind: !isProperty && beforeExpression.has(found) ? 'operator' : 'value', text: isProperty ? undefined : found }
      }
    }
  }
  return { clean, places }
}

/** Keeps track of brackets, since what may follow a closing one depends on what stood before the opening one. */
function bracket(mark, { open, last }) {
  if (mark === '(') open.push({ kind: ['if', 'while', 'for', 'with'].includes(last.text) ? 'condition' : 'group' })
  else if (mark === '[') open.push({ kind: 'group' })
  else if (mark === '{') open.push({ kind: last.kind === 'operator' && !/^[;{})>]$|^(?:do|else)$/.test(last.text ?? '') ? 'group' : 'block' })
  else if (mark === ')' || mark === ']' || mark === '}') {
    const opened = open.pop()?.kind
    return { kind: opened === 'group' ? 'value' : 'operator', text: mark }
  }
  return undefined
}

function stringLength(text, at) {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1
    else if (text[end] === text[at]) return end + 1 - at
    else if (text[end] === '\n') return end - at
  }
  return text.length - at
}

function templateLength(text, at) {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1
    else if (text[end] === '`') return end + 1 - at
    else if (text[end] === '$' && text[end + 1] === '{') return end + 2 - at
  }
  return text.length - at
}
