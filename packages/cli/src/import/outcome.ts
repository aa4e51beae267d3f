import type { Finding } from '@repertoire/contract/sdk'
import { RepertoireError } from '@repertoire/sdk'

/** Why something was refused: a code for scripts, a sentence, and what to do. */
export type Reason = { readonly code: string; readonly message: string; readonly hint: string | null }

/** What became of one folder; in the report under these very names. */
export type FolderOutcome = {
  readonly folder: string
  readonly name: string | null
  readonly version: string | null
  readonly digest: string | null
  readonly result: 'published' | 'unchanged' | 'refused' | 'not_reached'
  /** Whether this import released it. */
  readonly released: boolean
  /** The earlier folder of this import that holds the same version with the same bytes. */
  readonly same_as: string | null
  readonly reason: Reason | null
  readonly findings: readonly Finding[]
}

/** How many folders ended in each way; `released` and `release_refused` are among the first two. */
export type ImportCounts = {
  readonly folders: number
  readonly published: number
  readonly unchanged: number
  readonly refused: number
  readonly not_reached: number
  readonly released: number
  readonly release_refused: number
}

/** Everything an import has to say: every folder, in the order of their paths. */
export type ImportReport = {
  readonly directory: string
  readonly registry: string
  readonly dry_run: boolean
  readonly started_at: string
  readonly duration_ms: number
  /** Why it ended before every folder was handled. */
  readonly stopped: Reason | null
  readonly counts: ImportCounts
  readonly remarks: readonly string[]
  readonly folders: readonly FolderOutcome[]
}

/** Counts outcomes; together the first four are all folders. */
export function countOutcomes(outcomes: readonly FolderOutcome[]): ImportCounts {
  const of = (result: FolderOutcome['result']): number => outcomes.filter((outcome) => outcome.result === result).length
  const isIn = (outcome: FolderOutcome): boolean => outcome.result === 'published' || outcome.result === 'unchanged'
  return {
    folders: outcomes.length,
    published: of('published'),
    unchanged: of('unchanged'),
    refused: of('refused'),
    not_reached: of('not_reached'),
    released: outcomes.filter((outcome) => outcome.released).length,
    release_refused: outcomes.filter((outcome) => isIn(outcome) && outcome.reason !== null).length,
  }
}

/** An error as the reason of a folder, or of an end before the end. */
export function asReason(error: unknown): Reason {
  if (error instanceof RepertoireError) return { code: error.code, message: error.message, hint: error.hint ?? null }
  return { code: 'BUG', message: error instanceof Error ? error.message : String(error), hint: null }
}
