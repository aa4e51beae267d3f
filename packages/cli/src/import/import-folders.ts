import type { Repertoire } from '@repertoire/sdk'
import { open, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError, usageError } from '../command-error.ts'
import { onInterrupt } from '../interrupt.ts'
import { safeJson } from '../safe-text.ts'
import { readDefaults } from './check-defaults.ts'
import type { ImportReport } from './outcome.ts'
import { createPatience } from './patience.ts'
import { createProgress } from './progress.ts'
import { runImport, type ImportEnd } from './run-import.ts'

/** What was asked on the command line. */
export type ImportRequest = {
  readonly directory: string
  readonly paths: readonly string[]
  readonly remarks: readonly string[]
  readonly defaultVersion: string | undefined
  readonly defaultPermission: string | undefined
  readonly isDryRun: boolean
  readonly releaseReason: string | undefined
  readonly concurrency: number
  readonly reportFile: string | undefined
  readonly isQuiet: boolean
}

const patienceMs = 60_000

/** Imports folders into a registry, with progress, until it is done or a signal ends it; the report is written in any case. */
export async function importFolders(registry: Repertoire, address: string, request: ImportRequest): Promise<ImportEnd> {
  const defaults = readDefaults(request.defaultVersion, request.defaultPermission)
  // A wrong key or address is told before anything is read.
  await registry.self()
  if (request.reportFile !== undefined) await touch(request.reportFile)
  let isInterrupted = false
  const forget = onInterrupt(() => {
    isInterrupted = true
  })
  const isOver = (): boolean => isInterrupted
  const progress = createProgress(request.paths.length, request.isQuiet)
  const patience = createPatience({ patienceMs, nowMs: Date.now, sleep, random: Math.random, onPause: progress.wait, isOver })
  const world = { registry, address, patience, now: () => new Date(), onHandled: progress.show, isOver }
  const { report, error } = await runImport(world, { ...request, defaults }).finally(() => {
    progress.stop()
    forget()
  })
  const unwritten = request.reportFile === undefined ? undefined : await write(request.reportFile, report)
  return { report, error: error ?? unwritten }
}

// Found out before the work begins, so that an hour of it does not end without its report.
async function touch(file: string): Promise<void> {
  const handle = await open(file, 'a').catch((error: unknown) => {
    throw usageError(`The report cannot be written to ${file}: ${codeOf(error)}.`)
  })
  await handle.close()
}

async function write(file: string, report: ImportReport): Promise<CommandError | undefined> {
  try {
    await writeFile(file, `${safeJson(report)}\n`)
    return undefined
  } catch (error) {
    return new CommandError({ exit: 'bug', code: 'REPORT', message: `The report could not be written to ${file}: ${codeOf(error)}.` })
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown'
}
