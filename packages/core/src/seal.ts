import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const version = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + nonceBytes

/**
 * Seals bytes with the install secret, so that a database alone gives nothing away: AES-256-GCM, bound to a context, without
 * which they do not open. The nonce is 12 random bytes, never used twice.
 */
export function seal(
  secret: Uint8Array,
  context: string,
  { bytes, nonce }: { readonly bytes: Uint8Array; readonly nonce: Uint8Array },
): Buffer {
  if (nonce.byteLength !== nonceBytes) throw new RangeError(`a nonce has ${nonceBytes} bytes`)
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce, { authTagLength: tagBytes })
  cipher.setAAD(boundTo(context))
  return Buffer.concat([Buffer.from([version]), nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** Opens what was sealed; undefined for another secret or context, or when a bit was changed. */
export function open(secret: Uint8Array, context: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.byteLength < headBytes + tagBytes || sealed[0] !== version) return undefined
  const end = sealed.byteLength - tagBytes
  try {
    const decipher = createDecipheriv(algorithm, keyOf(secret), sealed.subarray(1, headBytes), { authTagLength: tagBytes })
    decipher.setAAD(boundTo(context))
    decipher.setAuthTag(sealed.subarray(end))
    return Buffer.concat([decipher.update(sealed.subarray(headBytes, end)), decipher.final()])
  } catch {
    return undefined
  }
}

// A key of its own for this purpose; deriving it costs more than sealing a small answer, so it is kept with its secret.
const keys = new WeakMap<Uint8Array, Buffer>()

function keyOf(secret: Uint8Array): Buffer {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'repertoire sealed payloads', 32))
  keys.set(secret, key)
  return key
}

function boundTo(context: string): Buffer {
  return Buffer.from(`${version}\n${context}`)
}
