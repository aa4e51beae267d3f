import { Refusal } from './refusal.ts'

/** Where a page ended, as text a client gives back unread. */
export function writeCursor(last: string): string {
  return Buffer.from(`c1:${last}`, 'utf8').toString('base64url')
}

/** Where the next page starts; throws INVALID_REQUEST for anything that is not a cursor of ours. */
export function readCursor(cursor: string | undefined, shape: RegExp): string | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const last = text.startsWith('c1:') ? text.slice(3) : ''
  if (!shape.test(last) || writeCursor(last) !== cursor) {
    throw new Refusal('INVALID_REQUEST', 'The cursor is not one that this list gave out.', {
      hint: 'start again without a cursor',
      details: [{ path: '/cursor', rule: 'cursor' }],
    })
  }
  return last
}
