/** A part of a text. */
export type Span = { readonly start: number; readonly end: number }

/** A part of a text and what takes its place. */
export type Edit = Span & { readonly text: string }

/** Adds an edit behind the others; those that lie inside it are no more. */
export function addEdit(edits: Edit[], edit: Edit): void {
  while ((edits.at(-1)?.start ?? -1) >= edit.start) edits.pop()
  edits.push(edit)
}

/** A text with its edits made; what lies between them is as it was. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let out = ''
  let at = 0
  for (const edit of edits) {
    out += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return out + text.slice(at)
}
