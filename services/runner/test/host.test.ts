import { spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPublicAddress } from '../src/host/address.ts'
import { fetchFor } from '../src/host/fetch.ts'
import { listMounted, listMounts, readMounted, writeMounted, type FileHost } from '../src/host/files.ts'
import { sendMail } from '../src/host/mail.ts'
import { opensOf } from '../src/host/opens.ts'
import { openRunner, type OpenRunner } from './open-runner.ts'

let runner: OpenRunner
let host: FileHost
let trap: Server
let trapped = 0
let address: string

beforeAll(async () => {
  runner = await openRunner()
  host = { mounts: new Map([['workspace', runner.mount]]), opens: opensOf(['fs:read', 'fs:write']) }
  await writeFile(join(runner.mount, 'a.txt'), 'hello')
  await writeFile(join(runner.folder, 'secret.txt'), 'secret')
  await symlink(join(runner.folder, 'secret.txt'), join(runner.mount, 'link.txt'))
  await symlink(runner.folder, join(runner.mount, 'out'))
  await mkdir(join(runner.mount, 'sub'))
  trap = createServer((request, response) => {
    trapped += 1
    if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(2_000_000)))
    else if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
    else response.end('ok')
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  address = `127.0.0.1:${(trap.address() as AddressInfo).port}`
})
afterAll(async () => {
  await runner.close()
  trap.close()
})

const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'fine',
    (error: { code?: string }) => error.code,
  )

describe('files', () => {
  it('are read, written and listed inside a mount', async () => {
    expect(await readMounted(host, { mount: 'workspace', path: 'a.txt', offset: 1, max_bytes: 3 })).toEqual({
      base64: Buffer.from('ell').toString('base64'),
      bytes: 3,
      total: 5,
    })
    expect(await writeMounted(host, { mount: 'workspace', path: 'deep/er/b.txt', base64: Buffer.from('new').toString('base64') })).toEqual({
      bytes: 3,
      created: true,
    })
    expect(await readFile(join(runner.mount, 'deep/er/b.txt'), 'utf8')).toBe('new')
    expect((await listMounted(host, { mount: 'workspace', path: '.' })).entries.map((entry) => `${entry.kind} ${entry.name}`)).toEqual([
      'file a.txt',
      'folder deep',
      'link link.txt',
      'link out',
      'folder sub',
    ])
  })
  it.each([
    ['../secret.txt', 'PATH_OUTSIDE'],
    ['link.txt', 'PATH_OUTSIDE'],
    ['out/secret.txt', 'PATH_OUTSIDE'],
    ['sub/../../secret.txt', 'PATH_OUTSIDE'],
    ['a\0b', 'PATH_OUTSIDE'],
    ['missing', 'FILE_NOT_FOUND'],
    ['sub', 'NOT_A_FILE'],
  ])('%s is refused as %s', async (path, expected) => {
    expect(await code(readMounted(host, { mount: 'workspace', path }))).toBe(expected)
  })
  it('are not written through a link that leads out, nor at an absolute path, nor under a name that is none', async () => {
    expect(await code(writeMounted(host, { mount: 'workspace', path: 'out/evil.txt', base64: '' }))).toBe('PATH_OUTSIDE')
    expect(await code(writeMounted(host, { mount: 'workspace', path: '/etc/evil.txt', base64: '' }))).toBe('PATH_OUTSIDE')
    expect(await code(readFile('/etc/evil.txt'))).toBe('ENOENT')
    expect(await code(writeMounted(host, { mount: 'workspace', path: 'new/', base64: '' }))).toBe('NOT_A_FILE')
    expect(await code(writeMounted(host, { mount: 'workspace', path: 'x'.repeat(300), base64: '' }))).toBe('PATH_INVALID')
  })
  it('that are pipes block nobody', async () => {
    spawnSync('mkfifo', [join(runner.mount, 'pipe')])
    expect(await Promise.all(Array.from({ length: 8 }, () => code(readMounted(host, { mount: 'workspace', path: 'pipe' }))))).toEqual(
      Array.from({ length: 8 }, () => 'NOT_A_FILE'),
    )
    expect(await code(readMounted(host, { mount: 'workspace', path: 'a.txt' }))).toBe('fine')
  })
  it('are in mounts that a skill is told of when it may read or write them', () => {
    expect(listMounts({ ...host, opens: opensOf(['fs:write']) })).toEqual([{ name: 'workspace', readable: false, writable: true }])
    expect(listMounts({ ...host, opens: opensOf(['smtp']) })).toEqual([])
  })
  it('are closed without the tag', async () => {
    expect(await code(readMounted({ ...host, opens: opensOf([]) }, { mount: 'workspace', path: 'a.txt' }))).toBe('MOUNT_NOT_OPEN')
    expect(await code(writeMounted({ ...host, opens: opensOf(['fs:read']) }, { mount: 'workspace', path: 'a.txt', base64: '' }))).toBe(
      'MOUNT_NOT_OPEN',
    )
    expect(await code(readMounted({ ...host, opens: opensOf(['fs:read:other']) }, { mount: 'workspace', path: 'a.txt' }))).toBe(
      'MOUNT_NOT_OPEN',
    )
    expect(await code(readMounted({ ...host, opens: opensOf(['filesystem']) }, { mount: 'workspace', path: 'a.txt' }))).toBe('fine')
  })
})

describe('addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '100.64.0.1',
    '224.0.0.1',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::7f00:1',
    'fe80::1',
    'fc00::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'not an address',
    '1.2.3.4.5',
  ])('%s is not public', (text) => {
    expect(isPublicAddress(text)).toBe(false)
  })
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('%s is public', (text) => {
    expect(isPublicAddress(text)).toBe(true)
  })
})

describe('fetching', () => {
  const fetchHost = { opens: opensOf(['network']), allow: new Set<string>() }
  it('reaches what the operator listed, unpacks one layer within the limit, and follows nothing', async () => {
    const allowed = { ...fetchHost, allow: new Set([address]) }
    expect(Buffer.from((await fetchFor(allowed, { url: `http://${address}/` })).base64, 'base64').toString()).toBe('ok')
    expect((await fetchFor(allowed, { url: `http://${address}/away` })).status).toBe(302)
    expect((await fetchFor(allowed, { url: `http://${address}/gzip` })).bytes).toBe(2_000_000)
    const cut = await fetchFor(allowed, { url: `http://${address}/gzip`, max_bytes: 10_000 })
    expect([cut.cut, cut.bytes, Buffer.from(cut.base64, 'base64').toString()]).toEqual([true, 10_000, 'x'.repeat(10_000)])
  })
  it('never connects to anything private, however it is written', async () => {
    const before = trapped
    const port = address.split(':')[1]
    for (const url of [
      `http://${address}/`,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      'http://127.0.0.1/',
      'http://localhost/',
      'http://[::7f00:1]/',
      'file:///etc/passwd',
      'http://user:pw@example.com/',
      'ftp://example.com/',
      'nonsense',
    ]) {
      expect([url, await code(fetchFor(fetchHost, { url, timeout_ms: 2000 }))]).toEqual([url, 'URL_NOT_ALLOWED'])
    }
    expect(trapped).toBe(before)
  })
  it('is closed without the tag, and open for the one host a tag names', async () => {
    expect(await code(fetchFor({ ...fetchHost, opens: opensOf([]) }, { url: 'https://example.com/' }))).toBe('URL_NOT_ALLOWED')
    expect(await code(fetchFor({ opens: opensOf(['network:127.0.0.1']), allow: new Set([address]) }, { url: `http://${address}/` }))).toBe(
      'fine',
    )
  })
})

describe('mail', () => {
  const smtp = { url: 'smtp://127.0.0.1:1', from: 'a@b', recipients: ['ann@example.com', '@corp.example'] }
  const opens = opensOf(['smtp'])
  const mail = { to: ['ann@example.com'], subject: 's', text: 't' }
  it('goes to nobody who is not listed', async () => {
    for (const to of ['bob@example.com', 'ann@example.com.evil', 'x@sub.corp.example', 'ann@example.comx'])
      expect([to, await code(sendMail({ opens, smtp }, { ...mail, to: [to] }))]).toEqual([to, 'RECIPIENT_NOT_ALLOWED'])
    expect(await code(sendMail({ opens, smtp }, { ...mail, cc: ['bob@example.com'] }))).toBe('RECIPIENT_NOT_ALLOWED')
  })
  it('takes no header hidden in a subject or an address', async () => {
    expect(await code(sendMail({ opens, smtp }, { ...mail, subject: 'a\r\nBcc: x@y' }))).toBe('MAIL_INVALID')
    expect(await code(sendMail({ opens, smtp }, { ...mail, to: ['ann@example.com, bob@x.y'] }))).toBe('MAIL_INVALID')
  })
  it('says whether the tag, the server, or its answer is missing', async () => {
    expect(await code(sendMail({ opens: opensOf([]), smtp }, mail))).toBe('MAIL_NOT_OPEN')
    expect(await code(sendMail({ opens, smtp: undefined }, mail))).toBe('MAIL_NOT_CONFIGURED')
    expect(await code(sendMail({ opens, smtp }, mail))).toBe('MAIL_FAILED')
  })
})
