import { Repertoire, type DryRunReport, type Rollout } from '@repertoire/sdk'
import { describe, expect, it, vi } from 'vitest'
import { carryOut, type Change, type Changed } from '../src/command-flow.ts'
import type { CommandOptions } from '../src/command-options.ts'
import type { Context } from '../src/context.ts'
import { findRollout } from '../src/find-rollout.ts'
import { showWaiting } from '../src/show-waiting.ts'

type Sent = { readonly method: string; readonly path: string; readonly ifMatch: string | undefined; readonly body: unknown }
type Answers = Readonly<Record<string, { readonly data: unknown; readonly etag?: string } | Error>>

/** A registry that answers each request by its method and path, and remembers what it was sent. */
function registryOf(answers: Answers): { readonly registry: Repertoire; readonly sent: Sent[] } {
  const sent: Sent[] = []
  const send = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const path = String(url).replace('http://registry', '')
    const method = init.method ?? 'GET'
    const headers = init.headers as Record<string, string>
    sent.push({ method, path, ifMatch: headers['if-match'], body: init.body === undefined ? undefined : JSON.parse(String(init.body)) })
    const answer = answers[`${method} ${path}`]
    if (answer === undefined) throw new Error(`nothing is said of ${method} ${path}`)
    if (answer instanceof Error) throw answer
    const meta = { request_id: 'r', revision: 1, warnings: [] }
    return Response.json(
      { ok: true, data: answer.data, error: null, meta },
      { headers: answer.etag === undefined ? {} : { etag: answer.etag } },
    )
  }
  return { registry: new Repertoire({ url: 'http://registry', key: 'k', fetch: send as typeof fetch }), sent }
}

function contextOf(registry: Repertoire, ask?: Context['ask']): { readonly context: Context; readonly said: Record<string, string[]> } {
  const said: Record<string, string[]> = { results: [], notes: [], shown: [], ends: [] }
  const print: Context['print'] = {
    isJson: false,
    isQuiet: true,
    width: undefined,
    result: (_, asText) => said['results']?.push(asText()),
    note: (text) => said['notes']?.push(text),
    show: (asText) => said['shown']?.push(asText(undefined)),
  }
  return {
    said,
    context: { print, ask, registry: () => registry, connect: () => ({ registry, address: '', remark: undefined }), end: () => undefined },
  }
}

const report: DryRunReport = {
  dry_run: true,
  would_change: true,
  would_move: [],
  would_be_denied: [],
  unreachable: [],
  exact_pins_not_moved: [],
  selected_units: null,
  population: null,
  calls_known: true,
  versions: [{ version: '1.1.0', from: 'candidate', to: 'released' }],
  lines: [],
  rollouts: [],
}
const change: Change<Changed> = {
  what: 'promote greet 1.1.0',
  path: '/p',
  body: { percent: 5 },
  about: '/about',
  isUrgent: false,
  say: () => 'done\n',
}
const given: CommandOptions = { reason: 'it is good' }
const answers: Answers = {
  'GET /about': { data: {}, etag: '"4.read"' },
  'POST /p?dry_run=true': { data: report, etag: '"5.shown"' },
  'POST /p': { data: { changed: true, revision: 6 } },
  'POST /p?wait=3s': { data: { changed: true, revision: 6, applied: ['a'], lagging: ['b'], unreachable: ['c', 'd'] } },
}

describe('a command', () => {
  it('is shown and agreed to, and then carried out upon the very state that was shown', async () => {
    const { registry, sent } = registryOf(answers)
    const { context, said } = contextOf(registry, () => Promise.resolve(' Yes'))
    await carryOut(context, change, given)
    expect(sent.map(({ method, path, ifMatch }) => [method, path, ifMatch])).toEqual([
      ['POST', '/p?dry_run=true', undefined],
      ['POST', '/p', '"5.shown"'],
    ])
    expect(sent.map(({ body }) => body)).toEqual([
      { percent: 5, reason: 'it is good' },
      { percent: 5, reason: 'it is good' },
    ])
    expect([said['shown']?.length, said['results']]).toEqual([1, ['done\n']])
  })
  it.each(['', 'n', 'no', 'yellow'])('is not carried out when the answer is %j', async (answer) => {
    const { registry, sent } = registryOf(answers)
    const { context } = contextOf(registry, () => Promise.resolve(answer))
    await expect(carryOut(context, change, given)).rejects.toMatchObject({ exit: 'interrupted', code: 'DECLINED' })
    expect(sent).toHaveLength(1)
  })
  it('asks nothing about nothing', async () => {
    const { registry, sent } = registryOf({
      ...answers,
      'POST /p?dry_run=true': { data: { ...report, would_change: false }, etag: '"5.x"' },
    })
    const ask = vi.fn<(question: string) => Promise<string>>(() => Promise.resolve('n'))
    await carryOut(contextOf(registry, ask).context, change, given)
    expect([ask.mock.calls.length, sent[1]?.ifMatch]).toEqual([0, '"5.x"'])
  })
  it('is a misuse where nobody can be asked, and nothing is sent', async () => {
    const { registry, sent } = registryOf(answers)
    await expect(carryOut(contextOf(registry).context, change, given)).rejects.toMatchObject({
      exit: 'usage',
      hint: expect.stringContaining('--yes') as string,
    })
    expect(sent).toEqual([])
  })
  it('that nobody has to agree to reads what it is decided upon, unless it is urgent or told', async () => {
    const tagOf = async (urgent: boolean, options: Partial<CommandOptions>): Promise<(string | undefined)[]> => {
      const { registry, sent } = registryOf(answers)
      await carryOut(contextOf(registry).context, { ...change, isUrgent: urgent }, { ...given, yes: true, ...options })
      return sent.filter(({ method }) => method === 'POST').map(({ ifMatch }) => ifMatch)
    }
    expect(await tagOf(false, {})).toEqual(['"4.read"'])
    expect(await tagOf(true, {})).toEqual([undefined])
    expect(await tagOf(false, { ifMatch: '*' })).toEqual(['*'])
    expect(await tagOf(true, { ifMatch: '"1.x"' })).toEqual(['"1.x"'])
  })
  it('run dry is shown and nothing else is sent', async () => {
    const { registry, sent } = registryOf(answers)
    const { context, said } = contextOf(registry)
    await carryOut(context, change, { ...given, dryRun: true, yes: true, ifMatch: '"5.x"' })
    expect([sent.length, sent[0]?.ifMatch, said['results']?.[0]]).toEqual([1, '"5.x"', expect.stringContaining('candidate → released')])
  })
  it('that waits says who obeys, and warns of those that do not', async () => {
    const { registry } = registryOf(answers)
    const { context, said } = contextOf(registry)
    await carryOut(context, change, { ...given, yes: true, wait: '3s' })
    expect(said['results']).toEqual(['done\napplied on 1 of 4 replicas\n'])
    expect(said['notes']).toEqual([
      'warning: 1 replica lags and serves what was for now: b',
      'warning: 2 replicas are unreachable, and may serve what was: c, d; end what must not go on',
    ])
    await carryOut(context, change, { ...given, yes: true, wait: false })
    expect(said['results']?.[1]).toBe('done\n')
  })
})

describe('waiting for replicas', () => {
  it('is shown when it lasts, and never with --quiet', () => {
    vi.useFakeTimers()
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      const quick = showWaiting(3000, false)
      vi.advanceTimersByTime(100)
      quick.stop()
      const quiet = showWaiting(3000, true)
      vi.advanceTimersByTime(1000)
      quiet.stop()
      expect(write).not.toHaveBeenCalled()
      const slow = showWaiting(3000, false)
      vi.advanceTimersByTime(1000)
      slow.stop()
      expect(write.mock.calls.map(([text]) => String(text)).join('')).toContain('waiting for all replicas')
    } finally {
      write.mockRestore()
      vi.useRealTimers()
    }
  })
})

describe('a rollout by the name of its skill', () => {
  const id = (n: number): string => `0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d9${n}`
  const rollout = (n: number, more: object): object => ({ id: id(n), skill: 'greet', percent: 5, unit: 'agent', ended_at: null, ...more })
  const list = (...items: object[]): { readonly data: object } => ({ data: { items, next_cursor: null } })
  const find = (text: string, mayHaveEnded: boolean, all: Answers): Promise<string> =>
    findRollout(registryOf(all).registry, text, mayHaveEnded).then((found) => found.id)
  const two: Answers = {
    'GET /v1/rollouts?skill=greet&state=active': list(
      rollout(1, { version: '2.1.0', state: 'paused' }),
      rollout(2, { version: '1.1.0', state: 'running' }),
    ),
  }
  it('is the active one, by its version where there are two', async () => {
    expect(await find('greet@1.1.0', false, two)).toBe(id(2))
    await expect(find('greet', true, two)).rejects.toMatchObject({
      code: 'SEVERAL_ROLLOUTS',
      details: [{ message: `${id(1)}  2.1.0, paused at 5 % of agents` }, { message: `${id(2)}  1.1.0, running at 5 % of agents` }],
    })
  })
  it('is the one that ended last where that may be meant', async () => {
    const ended: Answers = {
      'GET /v1/rollouts?skill=greet&state=active': list(),
      'GET /v1/rollouts?skill=greet': list(
        rollout(3, { version: '1.2.0', state: 'cancelled', ended_at: '2026-03-01T00:00:00.000Z' }),
        rollout(2, { version: '2.0.0', state: 'promoted', ended_at: '2026-03-02T00:00:00.000Z' }),
      ),
      'GET /v1/skills/greet/versions': { data: {} },
    }
    expect(await find('greet', true, ended)).toBe(id(2))
    expect(await find('greet@1.2.0', true, ended)).toBe(id(3))
    await expect(find('greet', false, ended)).rejects.toMatchObject({ exit: 'notFound' })
    await expect(find('greet@9.9.9', true, ended)).rejects.toMatchObject({ exit: 'notFound' })
  })
  it('is the promoted one that its line serves rather than a later one that was cancelled, but not one that was rolled back', async () => {
    const at = (day: number): string => `2026-03-0${day}T00:00:00.000Z`
    const ended = (state: Rollout['state'], ...stable: string[]): Answers => ({
      'GET /v1/rollouts?skill=greet&state=active': list(),
      'GET /v1/rollouts?skill=greet': list(
        rollout(4, { version: '1.3.0', state, ended_at: at(4) }),
        rollout(3, { version: '1.2.0', state: 'promoted', ended_at: at(3) }),
        rollout(2, { version: '1.1.0', state: 'promoted', ended_at: at(2) }),
      ),
      'GET /v1/skills/greet/versions': {
        data: { items: ['1.3.0', '1.2.0', '1.1.0'].map((version) => ({ version, stable: stable.includes(version) })), next_cursor: null },
      },
    })
    expect(await find('greet', true, ended('cancelled', '1.2.0'))).toBe(id(3))
    expect(await find('greet', true, ended('cancelled', '1.1.0'))).toBe(id(2))
    expect(await find('greet', true, ended('cancelled', '1.0.0'))).toBe(id(4))
    expect(await find('greet@1.3.0', true, ended('cancelled', '1.2.0'))).toBe(id(4))
    // The same rollback given twice takes back one promotion, not two.
    expect(await find('greet', true, ended('rolled_back', '1.2.0'))).toBe(id(4))
  })
})
