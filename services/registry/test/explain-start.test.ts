import { Refusal } from '@repertoire/core'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Config } from '../src/config.ts'
import { isAway } from '../src/start/bring-up.ts'
import { explainStart } from '../src/start/explain-start.ts'

const config = {
  dataDir: '/data',
  host: '127.0.0.1',
  port: 4000,
  databaseUrl: 'postgres://user:secret@db.example:5433/house',
} as unknown as Config
const because = (fields: object, at = config): string => explainStart(Object.assign(new Error('what it said'), fields), at).message
const unwritable = 'The data directory /data cannot be written: what it said. Set REPERTOIRE_DATA_DIR to a folder that can.'
const database = 'the Postgres of DATABASE_URL (db.example:5433/house)'

describe('why a start failed', () => {
  it.each([
    [{ code: 'ENOSPC', syscall: 'write' }],
    [{ code: 'ENOSPC', syscall: 'fsync' }],
    [{ code: 'EEXIST', syscall: 'mkdir', path: '/data' }],
    [{ code: 'EISDIR', syscall: 'open', path: '/data/registry.lock' }],
    [{ code: 'EISDIR', syscall: 'rename', path: '/data/a', dest: '/data/b' }],
    [{ code: 'EACCES', syscall: 'open', path: '/data/spool' }],
    [{ code: 'EROFS', path: '/data/spool' }],
    [{ cause: { code: 'ENOSPC', syscall: 'write' } }],
  ])('is the data directory, not the database of DATABASE_URL, for %j', (fields) => {
    expect(because(fields)).toBe(unwritable)
    expect(because(fields, { ...config, databaseUrl: undefined })).toBe(unwritable)
  })
  it('is the data directory for what the file system really says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'repertoire-explain-test-'))
    await writeFile(join(folder, 'file'), '')
    for (const work of [mkdir(join(folder, 'file', 'in')), mkdir(join(folder, 'file')), writeFile(folder, '')])
      expect(explainStart(await work.catch((error: unknown) => error), config).message).toMatch(/^The data directory .data cannot be/)
    await rm(folder, { recursive: true })
  })
  it('is what a file that is absent says itself, and not the database', () => {
    expect(because({ code: 'ENOENT', syscall: 'open', path: '/skills' })).toBe('what it said')
  })
  it.each([
    [{ code: 'ECONNREFUSED', syscall: 'connect', address: '10.0.0.1', port: 5433 }],
    [{ code: 'ENOENT', syscall: 'connect', address: '/run/postgres' }],
    [{ code: 'EACCES', syscall: 'connect', address: '/run/postgres' }],
    [{ code: 'ECONNRESET', syscall: 'read' }],
    [{ code: 'EPIPE', syscall: 'write' }],
    [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
    [{ code: 'CONNECT_TIMEOUT' }],
  ])('is the database that cannot be reached for %j', (fields) => {
    expect(because(fields)).toBe(`Could not reach ${database}: is it running, and is the address right? (${fields.code})`)
  })
  it.each([
    ['28P01', 'refused the user or password.'],
    ['28000', 'refused the user or password.'],
    ['3D000', 'has no database of that name: create it first.'],
    ['25006', 'takes no changes now: is it the primary? (what it said)'],
  ])('is what the database says with %s', (code, text) => {
    expect(because({ code })).toBe(`${database} ${text}`)
  })
})

describe('a start without its database', () => {
  it('serves what is on the disk only where that database may come back by itself', () => {
    const may = (code: string): boolean => isAway(Object.assign(new Error('no'), { code }))
    expect(['CONNECT_TIMEOUT', 'ECONNREFUSED', '57P03', '25006', '55000'].map(may)).toEqual([true, true, true, true, true])
    expect(isAway(new Refusal('UNAVAILABLE', 'away'))).toBe(true)
    expect(['28P01', '28000', '3D000', '42501', '42P01'].map(may)).toEqual([false, false, false, false, false])
  })
})
