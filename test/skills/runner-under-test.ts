import { RunResult } from '@repertoire/contract'
import { validatorFor, type CheckedBundle } from '@repertoire/core'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { RunnerConfig } from '../../services/runner/src/config.ts'
import { serveRunner } from '../../services/runner/src/serve.ts'
import { checkedOf, readShippedSkills, type ShippedSkill } from './shipped-skills.ts'

/** Whether skills in Python can run here; a machine with nothing but Node is one we support. */
export const hasPython = spawnSync('python3', ['--version']).status === 0

/** How a call ended, with the answer read. */
export type Answer =
  | { readonly kind: 'result'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refusal'; readonly code: string; readonly message: string; readonly retryable: boolean }

/** A real runner with the skills we ship, in folders of its own. */
export type RunnerUnderTest = {
  readonly folder: string
  readonly mounts: ReadonlyMap<string, string>
  readonly call: (skill: string, args: Record<string, unknown>) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** What a test opens: names of mounts, addresses, and a mail server. */
export type Opened = { readonly mounts?: readonly string[]; readonly fetchAllow?: readonly string[]; readonly smtp?: RunnerConfig['smtp'] }

/** Starts a runner that listens on a socket in a temporary folder. */
export async function startRunner({ mounts: names = ['workspace'], fetchAllow = [], smtp }: Opened = {}): Promise<RunnerUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'skills-'))
  const mounts = new Map(names.map((name) => [name, join(folder, name)]))
  for (const path of mounts.values()) await mkdir(path)
  const socketPath = join(folder, 'runner.sock')
  const server = await serveRunner({
    socketPath,
    codeDir: join(folder, 'code'),
    mounts,
    fetchAllow: new Set(fetchAllow),
    smtp,
    processes: 2,
    python: 'python3',
    quiet: true,
  })
  const skills = await readShippedSkills()
  const sent = new Set<string>()
  return {
    folder,
    mounts,
    call: async (name, args) => {
      const skill = skills.find((candidate) => candidate.folder === name)
      // As the registry does, the code goes once, and later calls name it by its digest.
      if (!sent.has(name)) await sendCode(socketPath, skill)
      sent.add(name)
      return run(socketPath, checkedOf(skill), args)
    },
    close: async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function sendCode(socketPath: string, skill: ShippedSkill | undefined): Promise<void> {
  const files = Object.fromEntries([...(skill?.files ?? [])].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]))
  await send(socketPath, { method: 'PUT', path: `/code/${checkedOf(skill).digest}`, body: { files } })
}

async function run(socketPath: string, checked: CheckedBundle, args: Record<string, unknown>): Promise<Answer> {
  // What the registry would refuse never reaches a skill, so no test may pass it on.
  if (!validatorFor(checked.inputSchema).accepts(args))
    throw new Error(`${checked.manifest.name} takes no ${JSON.stringify(args).slice(0, 200)}`)
  const answer = RunResult.parse(JSON.parse(await send(socketPath, { method: 'POST', path: '/runs', body: runRequestOf(checked, args) })))
  if (answer.kind === 'failed') throw new Error(`${checked.manifest.name} failed (${answer.reason}): ${answer.message}`)
  if (answer.kind === 'skill_error') return { kind: 'refusal', code: answer.code, message: answer.message, retryable: answer.retryable }
  const data = JSON.parse(answer.json) as Record<string, unknown>
  if (checked.outputSchema === null || !validatorFor(checked.outputSchema).accepts(data))
    throw new Error(`${checked.manifest.name} answers against its own schema: ${answer.json.slice(0, 500)}`)
  return { kind: 'result', data }
}

function runRequestOf({ digest, entry, manifest }: CheckedBundle, args: Record<string, unknown>): object {
  return {
    code_digest: digest,
    entry,
    skill: manifest.name,
    tags: manifest.permission,
    arguments: args,
    timeout_ms: manifest.timeout_ms,
    max_result_bytes: 1024 * 1024,
    call_id: 'call-under-test',
    traceparent: null,
  }
}

function send(
  socketPath: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object },
): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, method, path, headers: { 'content-type': 'application/json' } }, (response) => {
      text(response).then(
        (answer) =>
          (response.statusCode ?? 500) < 300 ? resolve(answer) : reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`)),
        reject,
      )
    })
      .once('error', reject)
      .end(JSON.stringify(body))
  })
}

/** The data of a call that has to succeed. */
export function dataOf(answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.kind === 'refusal') throw new Error(`refused with ${answer.code}: ${answer.message}`)
  return answer.data
}
