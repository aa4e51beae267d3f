import { mkdirSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

/** What the operator opens to skills, and where the runner listens. */
export type RunnerConfig = {
  readonly socketPath: string
  readonly codeDir: string
  readonly mounts: ReadonlyMap<string, string>
  /** `host:port` pairs of private addresses that may be fetched. */
  readonly fetchAllow: ReadonlySet<string>
  readonly smtp: { readonly url: string; readonly from: string; readonly recipients: readonly string[] } | undefined
  readonly processes: number
  readonly python: string
  /** Whether traces of failed skills are kept out of the log. */
  readonly quiet: boolean
}

/** Reads and checks the environment; throws one sentence about the first thing that is wrong. */
export function readRunnerConfig(environment: NodeJS.ProcessEnv): RunnerConfig {
  const dataDir = resolve(environment['REPERTOIRE_DATA_DIR'] ?? '.data')
  const processes = environment['REPERTOIRE_RUNNER_PROCESSES'] ?? '8'
  if (!/^\d{1,3}$/.test(processes) || Number(processes) < 1)
    throw new Error(`REPERTOIRE_RUNNER_PROCESSES=${processes} is not a whole number from 1 to 999.`)
  const smtpUrl = environment['REPERTOIRE_SMTP_URL']
  if (smtpUrl !== undefined && !/^smtps?:\/\//.test(smtpUrl))
    throw new Error('REPERTOIRE_SMTP_URL is not a mail server; write it like smtp://user:password@host:587.')
  return {
    socketPath: environment['REPERTOIRE_RUNNER_SOCKET'] ?? join(dataDir, 'runner.sock'),
    codeDir: join(dataDir, 'runner-code'),
    mounts: readMounts(environment['REPERTOIRE_MOUNTS'], dataDir),
    fetchAllow: new Set(list(environment['REPERTOIRE_FETCH_ALLOW']).map((entry) => entry.toLowerCase())),
    smtp:
      smtpUrl === undefined
        ? undefined
        : {
            url: smtpUrl,
            from: environment['REPERTOIRE_SMTP_FROM'] ?? 'repertoire@localhost',
            recipients: list(environment['REPERTOIRE_SMTP_RECIPIENTS']).map((entry) => entry.toLowerCase()),
          },
    processes: Number(processes),
    python: environment['REPERTOIRE_PYTHON'] ?? 'python3',
    quiet: ['silent', 'error'].includes(environment['REPERTOIRE_LOG_LEVEL'] ?? 'info'),
  }
}

function readMounts(text: string | undefined, dataDir: string): ReadonlyMap<string, string> {
  if (text === undefined) {
    const workspace = join(dataDir, 'workspace')
    mkdirSync(workspace, { recursive: true })
    return new Map([['workspace', workspace]])
  }
  const mounts = new Map<string, string>()
  for (const entry of list(text)) {
    const at = entry.indexOf('=')
    const name = entry.slice(0, at)
    const path = entry.slice(at + 1)
    if (at < 1 || !/^[a-z0-9][a-z0-9_-]*$/.test(name) || !isAbsolute(path))
      throw new Error(`REPERTOIRE_MOUNTS: ${entry} is not name=/absolute/path.`)
    mounts.set(name, path)
  }
  return mounts
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
