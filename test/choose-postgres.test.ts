import { describe, expect, it } from 'vitest'
import { choosePostgres } from './support/choose-postgres.ts'

describe('the Postgres of the tests', () => {
  it('is the one that TEST_DATABASE_URL names, whatever else is there', () => {
    expect(choosePostgres({ url: 'postgres://x/y', dockerAnswers: true, imageIsThere: true })).toEqual({
      kind: 'given',
      url: 'postgres://x/y',
    })
  })
  it('is a container where an engine answers and the image is there', () => {
    expect(choosePostgres({ url: undefined, dockerAnswers: true, imageIsThere: true })).toEqual({ kind: 'container' })
  })
  it('is the packaged one where no engine answers, or where the image cannot be had', () => {
    expect(choosePostgres({ url: '', dockerAnswers: false, imageIsThere: false })).toEqual({ kind: 'embedded' })
    expect(choosePostgres({ url: undefined, dockerAnswers: true, imageIsThere: false })).toEqual({ kind: 'embedded' })
  })
})
