const dropped = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe'])
const blocks = new Set(['p', 'div', 'section', 'article', 'main', 'header', 'footer', 'nav', 'aside', 'ul', 'ol', 'dl', 'table', 'form', 'fieldset', 'blockquote', 'pre', 'figure', 'details', 'address', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'])
const lines = new Set(['br', 'tr', 'dt', 'dd', 'option', 'summary', 'figcaption', 'caption', 'legend', 'title', 'head', 'body'])
const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', mdash: '—', hellip: '…', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', copy: '©', reg: '®', trade: '™', euro: '€', pound: '£', yen: '¥', cent: '¢', sect: '§', deg: '°', plusmn: '±', times: '×', middot: '·', bull: '•', rarr: '→', larr: '←', auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç', ntilde: 'ñ', shy: '' }

/** The words of a page, with its headings, lists and table rows as lines; each character is looked at a fixed number of times. */
export function htmlToText(html) {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const out = []
  let title
  let [inPre, cells] = [0, 0]
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    out.push(textOf(html.slice(at, open < 0 ? html.length : open), inPre > 0))
    if (open < 0) break
    const tag = readTag(html, lower, open)
    // What opens and never ends is the end of what can be read.
    if (tag === undefined) break
    at = tag.end
    if (tag.name === '') {
      out.push(tag.text)
      continue
    }
    if (tag.name === 'pre') inPre = Math.max(0, inPre + (tag.closes ? -1 : 1))
    if (dropped.has(tag.name) && !tag.closes) at = closingOf(lower, tag.name, at)
    else if (tag.name === 'title' && !tag.closes && title === undefined) {
      const end = closingOf(lower, 'title', at)
      title = tidy(textOf(html.slice(at, lower.lastIndexOf('<', end - 1)), false))
      at = end
    } else if (tag.name === 'td' || tag.name === 'th') {
      if (!tag.closes && cells > 0) out.push(' | ')
      if (!tag.closes) cells += 1
    } else {
      if (tag.name === 'tr') cells = 0
      out.push(markOf(tag))
    }
  }
  return { title, text: tidy(out.join('')) }
}

/** What begins with < at a place: a comment, a declaration, a tag, or a plain character. */
function readTag(html, lower, at) {
  if (html.startsWith('<!--', at)) return nameless(html.indexOf('-->', at + 2), 3)
  if (html[at + 1] === '!' || html[at + 1] === '?') return nameless(html.indexOf('>', at), 1)
  const name = /<\/?[a-z][a-z0-9:-]*/y
  name.lastIndex = at
  const found = name.exec(lower)?.[0]
  if (found === undefined) return { name: '', text: '<', end: at + 1 }
  let quote
  let before = ''
  for (let end = at + found.length; end < html.length; end += 1) {
    const mark = html[end]
    if (quote !== undefined) quote = mark === quote ? undefined : quote
    else if ((mark === '"' || mark === "'") && before === '=') quote = mark
    else if (mark === '>') return { name: found.replace(/^<\/?/, ''), closes: found[1] === '/', end: end + 1 }
    if (!/\s/.test(mark)) before = mark
  }
  return undefined
}

function nameless(end, length) {
  return end < 0 ? undefined : { name: '', text: '', end: end + length }
}

/** Where the closing tag of an element ends; the end of the page when it is missing. */
function closingOf(lower, name, at) {
  const close = lower.indexOf(`</${name}`, at)
  const end = close < 0 ? -1 : lower.indexOf('>', close)
  return end < 0 ? lower.length : end + 1
}

function markOf({ name, closes }) {
  if (/^h[1-6]$/.test(name)) return closes ? '\n\n' : `\n\n${'#'.repeat(Number(name[1]))} `
  if (blocks.has(name)) return '\n\n'
  if (name === 'li') return closes ? '' : '\n- '
  return lines.has(name) && !closes ? '\n' : ''
}

// In preformatted text, blanks and line ends are kept from being tidied by standing in for them.
function textOf(source, isPreformatted) {
  // eslint-disable-next-line no-control-regex
  const plain = source.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/\r\n?/g, '\n')
  const spaced = isPreformatted ? plain.replace(/ /g, '\u0001').replace(/\n/g, '\u0002').replace(/\t/g, '\u0003') : plain.replace(/[ \t\n]+/g, ' ')
  return spaced.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|[A-Za-z]{2,8});/g, (whole, name) => (name[0] === '#' ? characterOf(name) : (entities[name] ?? whole)))
}

function characterOf(reference) {
  const point = /^#x/i.test(reference) ? parseInt(reference.slice(2), 16) : Number(reference.slice(1))
  if (point === 160 || point < 32) return ' '
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? '\uFFFD' : String.fromCodePoint(point)
}

function tidy(text) {
  const spaced = text.replace(/ {2,}/g, ' ').replace(/ ?\n ?/g, '\n').replace(/\n{3,}/g, '\n\n')
  // eslint-disable-next-line no-control-regex
  return spaced.trim().replace(/\u0001/g, ' ').replace(/\u0002/g, '\n').replace(/\u0003/g, '\t')
}
