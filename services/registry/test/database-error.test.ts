import { Refusal } from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { explainDatabaseError } from '../src/store/database-error.ts'

const explained = (code: string): unknown =>
  explainDatabaseError(new Error('of the driver', { cause: Object.assign(new Error(), { code }) }))

describe('an error of the database while running', () => {
  it.each(['ECONNREFUSED', '08006', '53300', '57P01', '57014', '25006', '28P01', '28000', '55000'])('%s is UNAVAILABLE', (code) => {
    expect(explained(code)).toMatchObject({ code: 'UNAVAILABLE', headers: { 'Retry-After': '2' } })
  })
  it('55P03 is BUSY', () => {
    expect(explained('55P03')).toMatchObject({ code: 'BUSY' })
  })
  it.each(['23505', '25001', '25P02', '42P01', '42501', '55006'])('%s stays what it is, a fault of ours', (code) => {
    expect(explained(code)).not.toBeInstanceOf(Refusal)
  })
})
