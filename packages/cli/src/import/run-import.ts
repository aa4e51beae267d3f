import type { BundleDefaults } from '@repertoire/core'
import type { Repertoire } from '@repertoire/sdk'
import { asReason, countOutcomes, type FolderOutcome, type ImportReport } from './outcome.ts'
import type { Patience } from './patience.ts'
import { planImport, untouched, type PlannedFolder } from './plan-import.ts'
import { publishFolder } from './publish-folder.ts'

/** What is imported, and how. */
export type ImportInput = {
  readonly directory: string
  readonly paths: readonly string[]
  readonly remarks: readonly string[]
  readonly defaults: BundleDefaults
  readonly isDryRun: boolean
  readonly releaseReason: string | undefined
  readonly concurrency: number
}

/** What an import asks of the world. */
export type ImportWorld = {
  readonly registry: Repertoire
  readonly address: string
  readonly patience: Patience
  readonly now: () => Date
  readonly onHandled: (handled: number) => void
  readonly isOver: () => boolean
}

/** How an import went; `error` is what ended it early. */
export type ImportEnd = { readonly report: ImportReport; readonly error: unknown }

/** Checks every folder, publishes the good ones a few at a time, and accounts for each of them. */
export async function runImport(world: ImportWorld, input: ImportInput): Promise<ImportEnd> {
  const startedAt = world.now()
  const plan = await planImport({ ...input, isOver: world.isOver })
  const outcomes: FolderOutcome[] = [...plan.refused]
  let handled = plan.refused.filter(({ result }) => result !== 'not_reached').length
  world.onHandled(handled)
  let error: unknown
  const isOver = (): boolean => error !== undefined || world.isOver()
  const settings = {
    registry: world.registry,
    patience: world.patience,
    defaults: input.defaults,
    isDryRun: input.isDryRun,
    releaseReason: input.releaseReason,
  }

  const publishLine = async (line: readonly PlannedFolder[]): Promise<void> => {
    const accepted: PlannedFolder[] = []
    for (const planned of line) {
      const outcome = isOver()
        ? notReached(planned)
        : await publishFolder(settings, planned, accepted).catch((thrown: unknown) => {
            error ??= thrown
            return notReached(planned)
          })
      if (outcome.result === 'published' || outcome.result === 'unchanged') accepted.push(planned)
      outcomes.push(outcome)
      if (outcome.result !== 'not_reached') world.onHandled((handled += 1))
    }
  }
  const waiting = [...plan.lines]
  const work = async (): Promise<void> => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) await publishLine(line)
  }
  await Promise.all(Array.from({ length: input.concurrency }, work))

  outcomes.sort((a, b) => (a.folder < b.folder ? -1 : 1))
  const stopped =
    error !== undefined
      ? asReason(error)
      : world.isOver()
        ? { code: 'INTERRUPTED', message: 'The import was interrupted.', hint: 'run it again; what is published already stays as it is' }
        : null
  return {
    error,
    report: {
      directory: input.directory,
      registry: world.address,
      dry_run: input.isDryRun,
      started_at: startedAt.toISOString(),
      duration_ms: world.now().getTime() - startedAt.getTime(),
      stopped,
      counts: countOutcomes(outcomes),
      remarks: [...input.remarks, ...plan.remarks],
      folders: outcomes,
    },
  }
}

function notReached({ folder, name, version, digest, findings }: PlannedFolder): FolderOutcome {
  return { ...untouched(folder), name, version, digest, findings, result: 'not_reached' }
}
