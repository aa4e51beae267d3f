import { readCursor, Refusal, writeCursor } from '@repertoire/core'

/** What a piece of a result is sealed for: this place in this call, and no other. */
export function resultContext(callId: string, number: number): string {
  return `result ${callId} ${number}`
}

/** The address of a piece of a result. */
export function resultPath(callId: string, number: number): string {
  return `/v1/calls/${callId}/result?cursor=${writeCursor(`${callId}/${number}`)}`
}

/** The number of the piece that a cursor of this call names. */
export function readResultCursor(callId: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [of = '', number = ''] = (readCursor(cursor, /^[0-9a-f-]{36}\/\d{1,6}$/) ?? '').split('/')
  if (of === callId) return Number(number)
  throw new Refusal('INVALID_REQUEST', 'The cursor is one of another call.', {
    hint: 'start again without a cursor',
    details: [{ path: '/cursor', rule: 'cursor' }],
  })
}
