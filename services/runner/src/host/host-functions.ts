import { z } from 'zod'
import type { RunnerConfig } from '../config.ts'
import { fetchFor, isHarmless } from './fetch.ts'
import { listMounted, listMounts, readMounted, writeMounted } from './files.ts'
import { HostError } from './host-error.ts'
import { sendMail } from './mail.ts'
import { opensOf } from './opens.ts'

/** What a skill's code can ask of the host, by name; each call is judged by the tags of its version. */
export type HostFunctions = (name: string, args: unknown) => Promise<unknown>

/** Whether a host function that succeeded has changed something outside. */
export function changesTheWorld(name: string, args: unknown): boolean {
  if (name === 'fetch') return !isHarmless(typeof args === 'object' && args !== null && 'method' in args ? args.method : undefined)
  return name === 'files.write' || name === 'mail.send'
}

/** The host functions of one run, until it is over. */
export function hostFunctionsFor(config: RunnerConfig, tags: readonly string[], over: AbortSignal): HostFunctions {
  const opens = opensOf(tags)
  const files = { mounts: config.mounts, opens }
  const functions: Readonly<Record<string, (args: unknown) => Promise<unknown>>> = {
    'files.mounts': async () => listMounts(files),
    'files.read': (args) => readMounted(files, args),
    'files.write': (args) => writeMounted(files, args),
    'files.list': (args) => listMounted(files, args),
    fetch: (args) => fetchFor({ opens, allow: config.fetchAllow, over }, args),
    'mail.send': (args) => sendMail({ opens, smtp: config.smtp }, args),
  }
  return async (name, args) => {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined
    if (called === undefined) throw new HostError('HOST_FUNCTION_UNKNOWN', `There is no host function ${name.slice(0, 64)}.`)
    try {
      return await called(args)
    } catch (error) {
      if (error instanceof z.ZodError)
        throw new HostError(
          'HOST_CALL_INVALID',
          `${name}: ${error.issues[0]?.path.join('.') ?? ''} ${error.issues[0]?.message ?? 'is not right'}`,
        )
      throw error
    }
  }
}
