import { open, seal } from '@repertoire/core'
import fc from 'fast-check'
import { createDecipheriv, hkdfSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'

const secret = new Uint8Array(48).fill(7)
const nonce = new Uint8Array(12).fill(3)
const bytes = fc.uint8Array({ maxLength: 300 })
const same = (one: Uint8Array | undefined, other: Uint8Array): boolean => one !== undefined && Buffer.from(one).equals(Buffer.from(other))

describe('what is sealed', () => {
  it('opens with the same secret and context, and holds nothing of what it was', { timeout: patienceMs }, () => {
    check([bytes, fc.string(), fc.uint8Array({ minLength: 12, maxLength: 12 })], (plain, context, once) => {
      const sealed = seal(secret, context, { bytes: plain, nonce: once })
      const isHidden = plain.byteLength < 8 || !Buffer.from(sealed).includes(Buffer.from(plain))
      return same(open(secret, context, sealed), plain) && sealed.byteLength === plain.byteLength + 29 && isHidden
    })
  })
  it('does not open when any bit of it was changed, or when it was cut', { timeout: patienceMs }, () => {
    check([bytes, fc.nat(), fc.nat(7)], (plain, place, bit) => {
      const sealed = seal(secret, 'call 1', { bytes: plain, nonce })
      const changed = Uint8Array.from(sealed)
      const at = place % sealed.byteLength
      changed[at] = (changed[at] ?? 0) ^ (1 << bit)
      return open(secret, 'call 1', changed) === undefined && open(secret, 'call 1', sealed.subarray(0, at)) === undefined
    })
  })
  it('does not open with another secret, nor in another place', () => {
    const sealed = seal(secret, 'call 1 part 0', { bytes: Buffer.from('of Jane'), nonce })
    expect([
      open(new Uint8Array(48).fill(8), 'call 1 part 0', sealed),
      open(secret, 'call 1 part 1', sealed),
      open(secret, '', sealed),
      open(secret, 'call 1 part 0', new Uint8Array(0)),
    ]).toEqual([undefined, undefined, undefined, undefined])
    expect(Buffer.from(open(secret, 'call 1 part 0', sealed) ?? []).toString()).toBe('of Jane')
  })
  it('is what others can open who know how: version, nonce, AES-256-GCM, tag, a key by HKDF', () => {
    const sealed = Buffer.from(seal(secret, 'call 1', { bytes: Buffer.from('of Jane'), nonce }))
    const key = new Uint8Array(hkdfSync('sha256', secret, '', 'repertoire sealed payloads', 32))
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13)).setAAD(Buffer.from('1\ncall 1'))
    decipher.setAuthTag(sealed.subarray(-16))
    expect([
      sealed[0],
      sealed.subarray(1, 13).equals(nonce),
      decipher.update(sealed.subarray(13, -16), undefined, 'utf8') + decipher.final('utf8'),
    ]).toEqual([1, true, 'of Jane'])
  })
  it('needs a nonce of its size', () => {
    expect(() => seal(secret, 'call 1', { bytes: new Uint8Array(1), nonce: new Uint8Array(11) })).toThrow(RangeError)
  })
})
