import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchFor } from '../src/host/fetch.ts'
import { opensOf } from '../src/host/opens.ts'

type Answer = readonly { readonly address: string; readonly family: number }[]
// The one part of the world that no test can have real: a resolver that lies.
const resolver = vi.hoisted(() => ({ answers: [] as Answer[], asked: 0 }))
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof import('node:dns')>()),
  lookup: (_host: string, _options: object, callback: (error: null, addresses: Answer) => void) => {
    const answer = resolver.answers[Math.min(resolver.asked, resolver.answers.length - 1)] ?? []
    resolver.asked += 1
    setImmediate(() => callback(null, answer))
  },
}))

let trap: Server
let trapped = 0
beforeAll(async () => {
  trap = createServer((_, response) => {
    trapped += 1
    response.end('trapped')
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void trap.close())

const fetchName = async (answers: readonly Answer[]): Promise<string> => {
  resolver.answers = [...answers]
  resolver.asked = 0
  const host = { opens: opensOf(['network']), allow: new Set<string>() }
  return fetchFor(host, { url: 'http://rebind.example.com/', timeout_ms: 1500 }).then(
    () => 'reached',
    (error: { code?: string }) => error.code ?? 'unknown',
  )
}
const inside = { address: '127.0.0.1', family: 4 }
const outside = { address: '1.1.1.1', family: 4 }

describe('a name that leads inside', () => {
  it.each([
    ['at once', [[inside]]],
    ['among others', [[outside, inside]]],
    ['as IPv6 loopback', [[{ address: '::1', family: 6 }]]],
    ['as IPv4 in IPv6', [[{ address: '::ffff:127.0.0.1', family: 6 }]]],
    ['as the old compatible form', [[{ address: '::7f00:1', family: 6 }]]],
    ['through NAT64', [[{ address: '64:ff9b::7f00:1', family: 6 }]]],
    ['to the address of cloud metadata', [[{ address: '169.254.169.254', family: 4 }]]],
    ['to nothing', [[]]],
  ] as [string, Answer[]][])('is not followed: %s', async (_, answers) => {
    // Asked once: what was checked is what would be connected to.
    expect([await fetchName(answers), resolver.asked, trapped]).toEqual(['URL_NOT_ALLOWED', 1, 0])
  })
})
