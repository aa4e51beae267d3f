import autocannon from 'autocannon'
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process under measurement: where it listens, and what else it said when it was ready. */
export type Subject = { readonly child: ChildProcess; readonly said: readonly string[] }

/** What is asked, of whom. */
export type Load = {
  readonly subject: Subject
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly expect: number
  /** How many ask at once; ten unless told. */
  readonly connections?: number
}

/** One round: requests a second, CPU microseconds a request, and the mean latency in milliseconds. */
export type Round = { readonly perSecond: number; readonly cpuMicros: number; readonly meanMs: number }

const seconds = 2
// Clock ticks a second in /proc, on every Linux that Node runs on.
const ticks = 100

/** Starts a process and waits for its line `ready …`. */
export async function startSubject(command: readonly string[], environment: Record<string, string> = {}): Promise<Subject> {
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  })
  const said = await new Promise<string[]>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const line = /(?:^|\n)(?:ready|Repertoire is ready at) (.+)\n/.exec(text)?.[1]
      if (line !== undefined) resolve(line.split(' '))
    })
    child.once('exit', (code) => reject(new Error(`${command.join(' ')} ended with ${code}: ${text}`)))
  })
  return { child, said }
}

/** Loads one address for two seconds; every answer must have the expected status. */
export async function runRound({ subject, url, method = 'GET', headers = {}, body, expect, connections = 10 }: Load): Promise<Round> {
  const before = cpuTicks(subject)
  const result = await autocannon({ url, method, headers, ...(body === undefined ? {} : { body }), connections, duration: seconds })
  const used = cpuTicks(subject) - before
  const statuses = Object.keys(result.statusCodeStats ?? {})
  if (statuses.some((status) => Number(status) !== expect) || result.errors > 0)
    throw new Error(`${url} answered ${statuses.join(', ')} instead of ${expect}, with ${result.errors} errors`)
  const count = result.requests.total
  return { perSecond: count / seconds, cpuMicros: ((used / ticks) * 1e6) / count, meanMs: (connections * seconds * 1000) / count }
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function cpuTicks({ child }: Subject): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}
