import { settings } from '@repertoire/contract'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

const read = (environment: Record<string, string>): ReturnType<typeof readConfig> => readConfig(environment, '/house')
const refusal = (environment: Record<string, string>): string => {
  try {
    read(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'fine'
}

describe('the settings', () => {
  it('are sensible when nothing is set', () => {
    expect(read({}).config).toMatchObject({
      databaseUrl: undefined,
      dataDir: '/house/.data',
      host: '127.0.0.1',
      port: 4000,
      skillsDir: '/house/skills',
      adminKeyFile: '/house/.data/admin.key',
      secretFile: '/house/.data/secrets/install',
      releaseNewAtStart: false,
      allowUnsandboxed: false,
    })
  })
  it.each([
    [{ REPERTOIRE_PORT: 'http' }, 'REPERTOIRE_PORT=http is not a whole number from 0 to 65535.'],
    [{ REPERTOIRE_PORT: '70000' }, 'REPERTOIRE_PORT=70000 is not a whole number from 0 to 65535.'],
    [{ REPERTOIRE_PROT: '1' }, 'REPERTOIRE_PROT is not a variable of ours; REPERTOIRE_PORT is. Correct its name, or unset it.'],
    [{ REPERTOIRE_SEED: 'yes' }, 'REPERTOIRE_SEED=yes is not one of candidate, release.'],
    [
      { REPERTOIRE_HOST: '0.0.0.0' },
      'REPERTOIRE_HOST=0.0.0.0 is not a loopback address, and keys would travel in the clear: put a proxy with TLS in front and set REPERTOIRE_BEHIND_PROXY=1.',
    ],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL is not a Postgres address; write it like postgres://user:password@host:5432/database.'],
    [{ REPERTOIRE_LOG_LEVEL: 'loud' }, 'REPERTOIRE_LOG_LEVEL=loud is not one of trace, debug, info, warn, error, silent.'],
  ])('%j is refused in one sentence', (environment, sentence) => {
    expect(refusal(environment)).toBe(sentence)
  })
  it('resolve the files they name', () => {
    expect(read({ REPERTOIRE_REDACT_FILE: 'redact.json', REPERTOIRE_OIDC_FILE: '/etc/oidc.json' }).config).toMatchObject({
      redactFile: '/house/redact.json',
      oidcFile: '/etc/oidc.json',
    })
    expect(read({}).config.redactFile).toBe(undefined)
  })
  it('take a proxy at its word, and warn of what nobody reads', () => {
    expect(refusal({ REPERTOIRE_HOST: '0.0.0.0', REPERTOIRE_BEHIND_PROXY: '1' })).toBe('fine')
    expect(read({ REPERTOIRE_SOMETHING_ELSE: '1' }).warnings).toEqual([
      'REPERTOIRE_SOMETHING_ELSE is not a variable of ours, and nothing reads it',
    ])
  })
  it('stand in one table, each name once', () => {
    expect(new Set(settings.map((setting) => setting.name)).size).toBe(settings.length)
  })
})
