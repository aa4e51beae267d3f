import { describe, expect, it } from 'vitest'
import { isDriverFault } from '../src/store/driver-fault.ts'

const withStack = (error: Error, first: string): Error =>
  Object.assign(error, { stack: `${error.name}: ${error.message}\n    at ${first}\n    at process.processImmediate` })

describe('an error that the driver throws at nobody', () => {
  it('is told from every other one by where it was thrown', () => {
    const fault = new TypeError("Cannot read properties of null (reading 'write')")
    expect(isDriverFault(withStack(fault, 'Immediate.nextWrite (/srv/node_modules/postgres/src/connection.js:255:22)'))).toBe(true)
    expect(
      isDriverFault(withStack(fault, 'Immediate.nextWrite [as _onImmediate] (file:///srv/node_modules/postgres/src/connection.js:255:22)')),
    ).toBe(true)
    expect(isDriverFault(withStack(fault, 'handle (/srv/services/registry/src/store/connect.ts:1:1)'))).toBe(false)
    expect(isDriverFault(withStack(fault, 'Writable.final [as _final] (/srv/node_modules/postgres/src/connection.js:869:16)'))).toBe(true)
    const other = new TypeError("Cannot read properties of undefined (reading 'replace')")
    expect(isDriverFault(withStack(other, 'queryError (/srv/node_modules/postgres/src/connection.js:389:48)'))).toBe(false)
    expect(isDriverFault(withStack(new Error('x'), 'nextWrite (/srv/node_modules/postgres/src/connection.js:255:22)'))).toBe(false)
    expect(isDriverFault('nextWrite')).toBe(false)
  })
})
