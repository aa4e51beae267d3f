import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

const page =
  '<!doctype html><html><head><title>News &amp; more</title><style>p{}</style><script>if (1<2) go("</p>")</script></head><body><h1>Hello</h1><p>One <b>two</b>&nbsp;&euro;5.</p><ul><li>a</li><li>b</li></ul><table><tr><td>k</td><td>v</td></tr></table></body></html>'

type Page = (response: ServerResponse) => void
const send =
  (type: string | undefined, body: string | Buffer, headers: Record<string, string> = {}, status = 200): Page =>
  (response) => {
    response.writeHead(status, { ...(type === undefined ? {} : { 'content-type': type }), ...headers }).end(body)
  }
const redirect =
  (location: string): Page =>
  (response) =>
    void response.writeHead(302, { location }).end()

const pages: Readonly<Record<string, Page>> = {
  '/page': send('text/html; charset=utf-8', page),
  '/untyped': send(undefined, page),
  '/latin1': send('text/html', Buffer.from('<meta charset="iso-8859-1"><p>Grüße</p>', 'latin1')),
  '/text': send('text/plain', 'äbcdefg'),
  '/long': send('text/plain', 'x'.repeat(3 * 1024 * 1024)),
  '/json': send('application/json', '{"rates":{"EUR":1.5}}'),
  '/packed': send('text/plain', gzipSync('unpacked'), { 'content-encoding': 'gzip' }),
  '/packed-long': send(
    'text/plain',
    gzipSync(Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, index) => (index * 7919 + (index >> 7) * 104_729) % 251)), {
      level: 0,
    }),
    { 'content-encoding': 'gzip' },
  ),
  '/picture': send('image/png', Buffer.from([0x89, 0x50])),
  '/bytes': send(undefined, Buffer.from([1, 0, 2])),
  '/absent': send('text/html', '<h1>Nothing here</h1>', {}, 404),
  '/one': redirect('/two'),
  '/two': redirect('three?x=1'),
  '/three?x=1': redirect('/page'),
  '/circle': redirect('/circle'),
  '/metadata': redirect('http://169.254.169.254/latest/meta-data/'),
  '/file': redirect('file:///etc/passwd'),
  '/broken': (response) => void response.destroy(),
}

let server: Server
let runner: RunnerUnderTest
let origin: string
beforeAll(async () => {
  server = createServer((request, response) => (pages[request.url ?? ''] ?? send('text/plain', 'no such page', {}, 404))(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  origin = `http://${host}`
  runner = await startRunner({ fetchAllow: [host] })
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await runner.close()
})

const fetchPage = (path: string, more: Record<string, unknown> = {}) => runner.call('fetch-url', { url: `${origin}${path}`, ...more })

describe('fetch-url', () => {
  it('makes readable text of a page', async () => {
    expect(dataOf(await fetchPage('/page'))).toEqual({
      final_url: `${origin}/page`,
      redirects: 0,
      status: 200,
      content_type: 'text/html; charset=utf-8',
      bytes: Buffer.byteLength(page),
      title: 'News & more',
      text: '# Hello\n\nOne two €5.\n\n- a\n- b\n\nk | v',
      truncated: false,
    })
  })

  it('knows a page whose type is not told, and one that is not UTF-8', async () => {
    expect(dataOf(await fetchPage('/untyped'))).toMatchObject({ content_type: null, title: 'News & more' })
    expect(dataOf(await fetchPage('/latin1'))).toMatchObject({ text: 'Grüße' })
  })

  it('follows redirects, relative ones too, and says where they led', async () => {
    expect(dataOf(await fetchPage('/one'))).toMatchObject({ final_url: `${origin}/page`, redirects: 3, status: 200 })
  })

  it('cuts between characters where max_bytes says, and a long answer after 48 KB', async () => {
    expect(dataOf(await fetchPage('/text', { max_bytes: 1 }))).toMatchObject({ text: '', truncated: true })
    expect(dataOf(await fetchPage('/text', { max_bytes: 4 }))).toMatchObject({ text: 'äbc', truncated: true })
    expect(dataOf(await fetchPage('/text', { max_bytes: 8 }))).toMatchObject({ text: 'äbcdefg', truncated: false })
    const long = dataOf(await fetchPage('/long'))
    expect(long).toMatchObject({ bytes: 2 * 1024 * 1024, truncated: true })
    expect(String(long['text'])).toHaveLength(48 * 1024)
  })

  it('hands on JSON, and unpacks what a server packs unasked', async () => {
    const json = dataOf(await fetchPage('/json', { as: 'json' }))
    expect(json).toMatchObject({ json: { rates: { EUR: 1.5 } }, truncated: false })
    expect(json).not.toHaveProperty('text')
    expect(dataOf(await fetchPage('/packed'))).toMatchObject({ text: 'unpacked' })
  })

  it('answers with a status that is no success', async () => {
    expect(dataOf(await fetchPage('/absent'))).toMatchObject({ status: 404, text: '# Nothing here' })
  })

  it.each([
    ['/circle', {}, 'TOO_MANY_REDIRECTS', false],
    ['/metadata', {}, 'URL_NOT_ALLOWED', false],
    ['/file', {}, 'URL_NOT_ALLOWED', false],
    ['/picture', {}, 'RESPONSE_NOT_TEXT', false],
    ['/bytes', {}, 'RESPONSE_NOT_TEXT', false],
    ['/page', { as: 'json' }, 'RESPONSE_NOT_JSON', false],
    ['/json', { as: 'json', max_bytes: 5 }, 'RESPONSE_TOO_LARGE', false],
    ['/long', { as: 'json' }, 'RESPONSE_TOO_LARGE', false],
    ['/packed-long', {}, 'RESPONSE_TOO_LARGE', false],
    ['/broken', {}, 'FETCH_FAILED', true],
  ])('refuses %s %j with %s', async (path, more, code, retryable) => {
    expect(await fetchPage(path, more)).toMatchObject({ kind: 'refusal', code, retryable })
  })

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://[::7f00:1]/',
    'http://localhost/',
    'http://10.0.0.1/',
    'http://2130706433/',
    'http://user:secret@example.org/',
    'http://example.org:8080/',
    'ftp://example.org/',
    'no address',
  ])('refuses %s, which is not open', async (url) => {
    expect(await runner.call('fetch-url', { url })).toMatchObject({ kind: 'refusal', code: 'URL_NOT_ALLOWED' })
  })
})
