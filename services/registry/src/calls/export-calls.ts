import type { CallRow, ExportQuery } from '@repertoire/contract'
import { agentToRead, nameInRows, readWindow, Refusal, type Caller } from '@repertoire/core'
import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../ports.ts'
import type { CallQuery } from '../stored.ts'
import type { Visit } from '../visit.ts'
import { writerOf, type RowWriter } from './export-writers.ts'
import { noteStream, requirePayloads, withholdPayloads } from './show-payloads.ts'
import { watchRights } from './stream-rights.ts'

/** An export that was opened: its text, piece by piece, read as fast as its reader takes it. */
export type OpenedExport = {
  readonly type: string
  readonly filename: string
  readonly pieces: AsyncGenerator<string>
  readonly close: () => void
}

// A page holds at most so many payloads at once, of 64 KiB each way.
const rowsAtOnce = 200

/** Exports calls of a window, oldest first. What breaks off says so in its last line, and so does what is whole. */
export async function exportCalls(
  deps: Deps,
  visit: Visit,
  { query, isStopping }: { readonly query: ExportQuery; readonly isStopping: () => boolean },
): Promise<OpenedExport> {
  const { caller } = visit
  const nowMs = deps.clock.now().getTime()
  const { format, from: _from, to: _to, ...filters } = query
  const window = readWindow(query, nowMs)
  const agent = agentToRead(caller, query.agent)
  if (query.q !== undefined) requirePayloads(caller, { agent, nowMs })
  const skill = query.skill === undefined ? undefined : nameInRows(deps.snapshot(), query.skill, { caller, nowMs })
  const question = { ...filters, ...window, skill, agent, onBehalfOf: caller.onBehalfOf?.subject, isOldestFirst: true, limit: rowsAtOnce }
  const close = deps.exportPlaces.take(caller.id)
  try {
    await noteStream(deps, caller, { kind: 'export', asked: query, agent })
  } catch (error) {
    close()
    throw error
  }
  const writer = writerOf(format)
  const rights = watchRights(deps, visit)
  const mayGoOn = (): string | undefined => rights.lost() ?? (isStopping() ? 'This replica is stopping.' : undefined)
  return {
    type: writer.type,
    filename: `calls-${window.from.toISOString().slice(0, 10)}-${window.to.toISOString().slice(0, 10)}.${format}`,
    pieces: writePieces(deps, caller, { question, writer, mayGoOn, close }),
    close,
  }
}

type Writing = {
  readonly question: Omit<CallQuery, 'beyond'>
  readonly writer: RowWriter
  readonly mayGoOn: () => string | undefined
  readonly close: () => void
}

type Page = { readonly rows: readonly CallRow[]; readonly lookedTo: string | undefined }

const mostTries = 6
const pauseMs = 250

// Nobody waits for one page: a database that is busy for a moment does not break off what took minutes so far.
async function readPatiently(read: () => Promise<Page>): Promise<Page> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      const mayPass = error instanceof Refusal && (error.code === 'UNAVAILABLE' || error.code === 'BUSY')
      if (!mayPass || tries === mostTries) throw error
      await pause(pauseMs * tries)
    }
  }
}

async function* writePieces(deps: Deps, caller: Caller, { question, writer, mayGoOn, close }: Writing): AsyncGenerator<string> {
  let rows = 0
  try {
    if (writer.head !== '') yield writer.head
    for (let beyond: string | undefined; ;) {
      const stop = mayGoOn()
      if (stop !== undefined) throw new Refusal('UNAVAILABLE', stop)
      const page: Page = await readPatiently(() => deps.calls.find({ ...question, beyond }))
      rows += page.rows.length
      if (page.rows.length > 0) yield withholdPayloads(deps, caller, page.rows).map(writer.row).join('')
      beyond = page.lookedTo ?? (page.rows.length === question.limit ? page.rows.at(-1)?.call_id : undefined)
      if (beyond === undefined) break
    }
    yield writer.whole(rows)
  } catch (error) {
    yield writer.broken(
      rows,
      error instanceof Refusal ? error : new Refusal('INTERNAL', 'The export broke off by a fault of the registry.'),
    )
  } finally {
    close()
  }
}
