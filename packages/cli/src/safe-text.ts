// What would steer a terminal, or show something else than is there: controls, bidirectional marks, tag characters.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu

/** A text from elsewhere on one line: white space becomes single spaces, what could steer a terminal becomes visible. */
export function safeLine(text: string): string {
  return escapeAll(text.replace(/\s+/g, ' ').trim())
}

/** A text from elsewhere as it is laid out, with what could steer a terminal made visible. */
export function safeBlock(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\t').map(escapeAll).join('\t'))
    .join('\n')
}

/** A value as JSON in which no character can steer a terminal; a reader of JSON gets the same value. */
export function safeJson(value: unknown, indent = 2): string {
  return (JSON.stringify(value, null, indent) ?? 'null').replace(unsafe, (found) => (found === '\n' ? found : jsonEscape(found)))
}

/** A piece of JSON text in which no character can steer a terminal; outside of strings only line breaks and tabs stay. */
export function safeJsonText(text: string): string {
  return text.replace(unsafe, (found) => (found === '\n' || found === '\t' ? found : jsonEscape(found)))
}

function escapeAll(text: string): string {
  return text.replace(unsafe, (found) => {
    const point = found.codePointAt(0) ?? 0
    return point < 0x100 ? `\\x${point.toString(16).padStart(2, '0')}` : `\\u{${point.toString(16)}}`
  })
}

// Beyond the first plane a character is two units, and JSON writes each of them.
function jsonEscape(found: string): string {
  return Array.from({ length: found.length }, (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')
}
