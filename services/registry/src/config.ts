import { settings, type SettingName } from '@repertoire/contract'
import { nearestName } from '@repertoire/core'
import { hostname } from 'node:os'
import { isIPv4 } from 'node:net'
import { isAbsolute, resolve } from 'node:path'

/** Everything the registry is told by its environment, checked once at start. */
export type Config = {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly host: string
  readonly port: number
  readonly skillsDir: string
  readonly releaseNewAtStart: boolean
  readonly adminKeyFile: string
  readonly secretFile: string
  readonly runnerSocket: string | undefined
  readonly allowUnsandboxed: boolean
  readonly replica: string
  readonly logLevel: string
  readonly drainMs: number
  readonly staleLimitMs: number
  readonly agentRate: number
  readonly concurrency: number
  readonly connectionConcurrency: number
  readonly runnerProcesses: number
  readonly oidcFile: string | undefined
  readonly tagClassesFile: string | undefined
  readonly redactFile: string | undefined
  readonly mayRenewSecret: boolean
  readonly spoolMaxBytes: number
  readonly acknowledge: 'spool' | 'postgres'
  readonly retention: { readonly payloadDays: number; readonly callDays: number }
  /** The whole environment, for credentials that connections name and for what the runner gets. */
  readonly environment: NodeJS.ProcessEnv
}

/** Settings read, and remarks about variables nobody knows. */
export type ConfigReading = { readonly config: Config; readonly warnings: readonly string[] }

/** A variable that is not right: the sentence is all that is printed. */
export class ConfigError extends Error {}

/** Reads and checks the environment; throws one sentence about the first thing that is wrong. */
export function readConfig(environment: NodeJS.ProcessEnv, workingDir: string): ConfigReading {
  const warnings = checkNames(environment)
  const get = (name: SettingName): string | undefined =>
    environment[name] === undefined || environment[name] === '' ? undefined : environment[name]
  const path = (name: SettingName, fallback: string): string => absolute(get(name) ?? fallback, workingDir)
  const dataDir = path('REPERTOIRE_DATA_DIR', '.data')
  const host = get('REPERTOIRE_HOST') ?? '127.0.0.1'
  const behindProxy = choice('REPERTOIRE_BEHIND_PROXY', get('REPERTOIRE_BEHIND_PROXY') ?? '0', ['0', '1']) === '1'
  if (!isLoopback(host) && !behindProxy) {
    throw new ConfigError(
      `REPERTOIRE_HOST=${host} is not a loopback address, and keys would travel in the clear: put a proxy with TLS in front and set REPERTOIRE_BEHIND_PROXY=1.`,
    )
  }
  const runnerSocket = get('REPERTOIRE_RUNNER_SOCKET')
  return {
    warnings,
    config: {
      databaseUrl: databaseUrl(get('DATABASE_URL')),
      dataDir,
      host,
      port: integer('REPERTOIRE_PORT', get('REPERTOIRE_PORT') ?? '4000', { min: 0, max: 65_535 }),
      skillsDir: path('REPERTOIRE_SKILLS_DIR', 'skills'),
      releaseNewAtStart: choice('REPERTOIRE_SEED', get('REPERTOIRE_SEED') ?? 'candidate', ['candidate', 'release']) === 'release',
      adminKeyFile: path('REPERTOIRE_ADMIN_KEY_FILE', resolve(dataDir, 'admin.key')),
      secretFile: path('REPERTOIRE_SECRET_FILE', resolve(dataDir, 'secrets', 'install')),
      runnerSocket: runnerSocket === undefined ? undefined : absolute(runnerSocket, workingDir),
      allowUnsandboxed: choice('REPERTOIRE_ALLOW_UNSANDBOXED', get('REPERTOIRE_ALLOW_UNSANDBOXED') ?? '0', ['0', '1']) === '1',
      replica: (get('REPERTOIRE_REPLICA') ?? `${hostname()}-${process.pid}`).slice(0, 128),
      logLevel: choice('REPERTOIRE_LOG_LEVEL', get('REPERTOIRE_LOG_LEVEL') ?? 'info', [
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
      drainMs: integer('REPERTOIRE_DRAIN_MS', get('REPERTOIRE_DRAIN_MS') ?? '6000', { min: 0, max: 600_000 }),
      staleLimitMs: integer('REPERTOIRE_STALE_LIMIT_MS', get('REPERTOIRE_STALE_LIMIT_MS') ?? '900000', { min: 60_000, max: 86_400_000 }),
      concurrency: integer('REPERTOIRE_CONCURRENCY', get('REPERTOIRE_CONCURRENCY') ?? '256', { min: 1, max: 100_000 }),
      connectionConcurrency: integer('REPERTOIRE_CONNECTION_CONCURRENCY', get('REPERTOIRE_CONNECTION_CONCURRENCY') ?? '64', {
        min: 1,
        max: 10_000,
      }),
      runnerProcesses: integer('REPERTOIRE_RUNNER_PROCESSES', get('REPERTOIRE_RUNNER_PROCESSES') ?? '8', { min: 1, max: 1000 }),
      oidcFile: get('REPERTOIRE_OIDC_FILE') === undefined ? undefined : path('REPERTOIRE_OIDC_FILE', ''),
      tagClassesFile: get('REPERTOIRE_TAG_CLASSES_FILE') === undefined ? undefined : path('REPERTOIRE_TAG_CLASSES_FILE', ''),
      redactFile: get('REPERTOIRE_REDACT_FILE') === undefined ? undefined : path('REPERTOIRE_REDACT_FILE', ''),
      agentRate: integer('REPERTOIRE_AGENT_RATE', get('REPERTOIRE_AGENT_RATE') ?? '50', { min: 1, max: 1_000_000 }),
      mayRenewSecret: choice('REPERTOIRE_NEW_SECRET', get('REPERTOIRE_NEW_SECRET') ?? '0', ['0', '1']) === '1',
      spoolMaxBytes:
        integer('REPERTOIRE_SPOOL_MAX_MB', get('REPERTOIRE_SPOOL_MAX_MB') ?? '1024', { min: 16, max: 1_048_576 }) * 1024 * 1024,
      acknowledge: choice('REPERTOIRE_LOG_ACK', get('REPERTOIRE_LOG_ACK') ?? 'spool', ['spool', 'postgres']),
      retention: {
        payloadDays: integer('REPERTOIRE_PAYLOAD_DAYS', get('REPERTOIRE_PAYLOAD_DAYS') ?? '7', { min: 1, max: 3650 }),
        callDays: integer('REPERTOIRE_CALL_DAYS', get('REPERTOIRE_CALL_DAYS') ?? '90', { min: 1, max: 3650 }),
      },
      environment,
    },
  }
}

function checkNames(environment: NodeJS.ProcessEnv): string[] {
  const known = new Set<string>(settings.map((setting) => setting.name))
  const warnings: string[] = []
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('REPERTOIRE_') || known.has(name)) continue
    const near = nearestName(name, known)
    if (near !== undefined) throw new ConfigError(`${name} is not a variable of ours; ${near} is. Correct its name, or unset it.`)
    warnings.push(`${name} is not a variable of ours, and nothing reads it`)
  }
  return warnings
}

function integer(name: SettingName, text: string, { min, max }: { readonly min: number; readonly max: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new ConfigError(`${name}=${text} is not a whole number from ${min} to ${max}.`)
  return value
}

function choice<const T extends string>(name: SettingName, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new ConfigError(`${name}=${text} is not one of ${allowed.join(', ')}.`)
  return found
}

function databaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new ConfigError('DATABASE_URL is not a Postgres address; write it like postgres://user:password@host:5432/database.')
  return text
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (host.startsWith('127.') && isIPv4(host))
}

function absolute(path: string, workingDir: string): string {
  return isAbsolute(path) ? path : resolve(workingDir, path)
}
