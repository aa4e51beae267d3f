const isPlain = /^[\u0000-\u02ff]*$/
const zeroWidth = /^(?:\p{Mark}|[\u200b-\u200d])$/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

/** How many columns of a terminal a text takes: Chinese, Japanese, Korean and emoji two each, accents none. */
export function displayWidth(text: string): number {
  if (isPlain.test(text)) return text.length
  let width = 0
  for (const char of text) width += zeroWidth.test(char) ? 0 : wide.test(char) ? 2 : 1
  return width
}

/** A text cut to so many columns, with an ellipsis where something is missing. */
export function cutText(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text
  let width = 1
  let kept = ''
  for (const char of text) {
    width += displayWidth(char)
    if (width > columns) break
    kept += char
  }
  return `${kept}…`
}

/** A text as lines of at most so many columns, broken between words; a longer word stands alone and sticks out. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
