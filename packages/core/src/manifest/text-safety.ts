/** A character that may not stand in what a model reads. */
export type UnsafeCharacter = { readonly codePoint: string; readonly line: number; readonly what: string }

/** The first character of a text that hides or disguises what a reader sees; undefined when there is none. */
export function findUnsafeCharacter(text: string): UnsafeCharacter | undefined {
  if (!text.isWellFormed()) return { codePoint: 'a lone surrogate', line: 1, what: 'half of a character' }
  for (const match of text.matchAll(suspect)) {
    const point = match[0].codePointAt(0) ?? 0
    const before = text.slice(Math.max(0, match.index - 2), match.index)
    if ((point === 0x200c || point === 0x200d) && joiningContext.test(before)) continue
    if (point === 0xfeff && match.index === 0) continue
    if (point === 0x0d && text[match.index + 1] === '\n') continue
    return {
      codePoint: `U+${point.toString(16).toUpperCase().padStart(4, '0')}`,
      line: text.slice(0, match.index).split('\n').length,
      what: nameOf(point),
    }
  }
  return undefined
}

// Everything refused, in one linear class; the joins that scripts and emoji need are let through above.
const suspect =
  /[\u{E0000}-\u{E007F}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u200B-\u200D\uFEFF\u2060-\u206F\p{Co}\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu
const joiningContext =
  /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}]$/u

function nameOf(point: number): string {
  if (point >= 0xe0000 && point <= 0xe007f) return 'an invisible tag character'
  if (
    point === 0x061c ||
    point === 0x200e ||
    point === 0x200f ||
    (point >= 0x202a && point <= 0x202e) ||
    (point >= 0x2066 && point <= 0x2069)
  )
    return 'a bidirectional control, which reorders what is shown'
  if (point >= 0x200b && point <= 0x206f) return 'an invisible character'
  if (point === 0xfeff) return 'a byte order mark in the middle of the text'
  if (point < 0xa0) return 'a control character'
  return 'a private-use character'
}

/** Why a description wants a second look: it gives orders, or hides something; undefined when it does not. */
export function findSuspiciousWording(text: string): string | undefined {
  if (/<\/?(important|system|secret)>/i.test(text)) return 'it contains a tag that poses as an instruction to the model'
  if (/[A-Za-z0-9+/]{200,}={0,2}/.test(text)) return 'it contains a long base64 blob'
  if (/\b(ignore|disregard|override)\b.{0,40}\b(previous|other|all)\b.{0,40}\b(instructions|skills|tools)\b/i.test(text))
    return 'it gives orders about other skills or instructions'
  return undefined
}
