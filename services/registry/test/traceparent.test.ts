import { describe, expect, it } from 'vitest'
import { readTraceparent } from '../src/http/traceparent.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

describe('a traceparent', () => {
  it.each([
    `00-${trace}-${parent}-01`,
    `00-${trace}-${parent}-00`,
    `cc-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01-what-comes-later`,
  ])('is taken: %s', (header) => {
    expect(readTraceparent(header)).toBe(header)
  })
  it.each([
    undefined,
    '',
    trace,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace}-${parent}`,
    `00-${trace}a-${parent}-01`,
    ` 00-${trace}-${parent}-01`,
  ])('is ignored: %s', (header) => {
    expect(readTraceparent(header)).toBeNull()
  })
})
