import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { greetPerson, inFolder } from './greet-person.ts'
import { startRegistry, writeTree, type Ran, type TestRegistry } from './registry-process.ts'

let registry: TestRegistry
let run: TestRegistry['run']
const json = <T = Record<string, unknown>>({ out }: Ran): T => JSON.parse(out) as T
const because = ['--reason', 'the test wants it so']
/** Runs a command that changes something without anybody being asked. */
const change = (...args: string[]): Promise<Ran> => run([...args, ...because, '--yes'])
const look = (...args: string[]): Promise<Ran> => run([...args, ...because, '--dry-run'])

beforeAll(async () => {
  registry = await startRegistry(inFolder('greet-person', greetPerson()))
  run = registry.run
  for (const version of ['1.1.0', '1.2.0', '1.3.0', '2.0.0', '2.1.0']) {
    await writeTree(join(registry.folder, version), greetPerson(version))
    await run(['publish', join(registry.folder, version), '--quiet'])
  }
  for (const [agent, range] of [
    ['bot', '^1'],
    ['pinned-bot', '1.0.0'],
  ] as const) {
    await run(['agents', 'create', agent, '--quiet'])
    const key = (await run(['keys', 'create', agent, '--quiet'])).out.trim()
    await run(['call', `greet-person@${range}`, '--params', '{"name":"Ada"}'], {
      env: { REPERTOIRE_KEY: key, REPERTOIRE_KEY_FILE: '' },
    })
  }
})
afterAll(() => registry.stop())

describe('what is written wrongly', () => {
  const start = ['canary', 'start', 'greet-person', '1.1.0', ...because, '--yes']
  it.each([['100.5'], ['10001'], ['-1'], ['1.234']])('a share of %s is refused before anything is sent', async (share) => {
    const ran = await run([...start, `--percent=${share}`])
    expect([ran.code, ran.out, ran.err]).toEqual([2, '', expect.stringContaining('a percentage from 0 to 100')])
  })
  it('a canary without a share, a wait that is too long, and a change without a reason too', async () => {
    expect((await run(start)).err).toContain('--percent 10')
    expect((await run([...start, '--percent', '10', '--wait', '1h'])).code).toBe(2)
    expect((await run(['canary', 'start', 'greet-person', '1.1.0', '--percent', '10', '--yes'])).err).toContain('--reason')
    expect((await run(['revert', 'greet-person', '--to', '1.0', ...because, '--yes'])).err).toContain('write "1.0.0"')
    expect((await run(['resolve', '--at', '2026-03-01', 'greet-person'])).code).toBe(2)
  })
  it.each([
    ['canary start', ['canary', 'start', 'greet-person', '1.1.0', '--percent', '100']],
    ['release', ['release', 'greet-person', '1.1.0']],
    ['block', ['block', 'greet-person', '1.1.0']],
  ])('%s with nobody to ask names --yes and changes nothing', async (_, args) => {
    const ran = await run([...args, ...because])
    expect([ran.code, ran.out, ran.err]).toEqual([2, '', expect.stringMatching(/Nobody is here to be asked[^]*--yes/)])
    expect((await run(['canary', 'status', '--all'])).out).toBe('')
  })
  it('a rollout or a skill that is not there ends with 5', async () => {
    const absent = await change('promote', '0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90')
    expect([absent.code, absent.err]).toEqual([5, expect.stringMatching(/no rollout 0198c6d2[^]*hint: /)])
    expect((await change('rollback', 'greet-person')).err).toContain('There is no rollout of greet-person. (NOT_FOUND)')
    for (const args of [
      ['pause', 'absent-skill'],
      ['cancel', 'greet-person@9.9.9'],
    ])
      expect((await change('canary', ...args)).code).toBe(5)
    expect((await run(['canary', 'status', 'absent-skill'])).err).toContain('SKILL_NOT_FOUND')
  })
})

describe('a canary', () => {
  it('that reaches nobody is refused with the arithmetic', async () => {
    const ran = await change('canary', 'start', 'greet-person', '1.1.0', '--percent', '0.01')
    expect([ran.code, ran.err]).toEqual([3, expect.stringMatching(/selects nobody[^]*\(NO_UNITS\)[^]*hint: start with/)])
  })
  it('is shown before it starts, and then starts', async () => {
    const args = ['canary', 'start', 'greet-person', '1.1.0', '--percent', '50', '--step', '50:1h', '--step', '75:2h', '--allow', 'bot']
    const shown = await look(...args)
    expect(shown.code).toBe(0)
    expect(shown.out).toMatch(/^start a canary of greet-person 1\.1\.0\nrollout of 1\.1\.0 +running, at 50 %\nselected units +\d of \d$/m)
    expect(shown.out).toMatch(/would get another version, with 1 call in 7 days\n.*\nbot +\^1 +1\.0\.0 +1\.1\.0 +1$/m)
    expect(shown.out).toMatch(/1 agent would stay, being pinned to an exact version.*\n.*\npinned-bot +1\.0\.0/)
    expect(shown.err).toBe('this was a dry run: nothing has changed\n')
    const started = await change(...args)
    expect([started.code, started.out]).toEqual([
      0,
      expect.stringMatching(/^greet-person 1\.1\.0 goes to 50 % of agents\nrollout [0-9a-f-]{36}\n$/),
    ])
    expect(started.err).toMatch(/repertoire canary status [0-9a-f-]{36}\n$/)
  })
  it('is seen in the list, by its skill, and alone', async () => {
    expect((await run(['canary', 'status'])).out).toMatch(/greet-person@1\.1\.0 +1 +running +50 % of agents +20\d\d-/)
    const whole = await run(['canary', 'status', 'greet-person'])
    expect(whole.out).toMatch(/steps +50 % for 1h \(in force\), then 75 % for 2h\nnext move +to 75 % at .*, in 59m/)
    expect(whole.out).toMatch(/possible now +set-percent, pause, promote, rollback, cancel\n$/)
    const one = json<{ id: string; state: string }>(await run(['canary', 'status', 'greet-person@1.1.0', '--json']))
    expect(json(await run(['canary', 'status', one.id, '--json']))).toMatchObject({ id: one.id, state: 'running', allow: ['bot'] })
    expect((await run(['show', 'greet-person', '--versions'])).out).toMatch(/1\.1\.0 +candidate +canary, running at 50 %/)
  })
  it('keeps its line from a release', async () => {
    const ran = await change('release', 'greet-person', '1.2.0')
    expect([ran.code, ran.err]).toEqual([6, expect.stringMatching(/\(ROLLOUT_ACTIVE\)[^]*hint: /)])
  })
  it('is set, paused and resumed; what was decided upon something else is refused', async () => {
    expect((await change('canary', 'set', 'greet-person', '--percent', '60.5')).out).toContain('goes to 60.5 % of agents')
    expect((await change('canary', 'pause', 'greet-person')).out).toContain('is paused: it stays at 60.5 % of agents')
    expect((await change('canary', 'pause', 'greet-person')).out).toContain('nothing changed')
    const stale = await change('canary', 'resume', 'greet-person', '--if-match', '"1.x"')
    expect([stale.code, stale.err]).toEqual([6, expect.stringMatching(/admin did rollout\.pause[^]*\(REVISION_MISMATCH\)/)])
    expect(json(await change('canary', 'resume', 'greet-person', '--if-match', '*', '--json'))).toMatchObject({
      state: 'running',
      changed: true,
    })
  })
  it('is promoted once everybody has seen what that does', async () => {
    const shown = json(await run(['promote', 'greet-person', ...because, '--dry-run', '--json']))
    expect(shown).toMatchObject({ dry_run: true, would_change: true, lines: [{ line: '1', from: '1.0.0', to: '1.1.0' }] })
    const promoted = await change('promote', 'greet-person')
    expect([promoted.code, promoted.out, promoted.err]).toEqual([
      0,
      expect.stringMatching(
        /^greet-person 1\.1\.0 is promoted; line 1 serves 1\.1\.0 \(before: 1\.0\.0\)\nrollout .*\napplied on the one replica there is\n$/,
      ),
      // Where the machine is slow, the wait is told; elsewhere there is nothing to say.
      expect.stringMatching(/^(waiting for all replicas, at most 3 s\n)?$/),
    ])
    expect((await change('promote', 'greet-person')).err).toMatch(/ILLEGAL_TRANSITION[^]*hint: possible now: rollback/)
  })
  it('is rolled back by the name of its skill although it was promoted', async () => {
    const shown = await look('rollback', 'greet-person')
    expect(shown.out).toMatch(
      /version 1\.1\.0 +released → yanked\nline 1 +serves 1\.0\.0 \(now: 1\.1\.0\)\nrollout of 1\.1\.0 +rolled back\n/,
    )
    const ran = await change('rollback', 'greet-person', '--wait', '5s', '--json')
    expect(json(ran)).toMatchObject({ state: 'rolled_back', applied: [expect.any(String)], lagging: [], unreachable: [] })
    expect((await change('rollback', 'greet-person', '--no-wait')).out).toMatch(
      /^nothing changed: .* was rolled back already.*\nrollout .*\n$/,
    )
    expect((await run(['canary', 'status'])).err).toContain('no rollout is active')
    expect((await run(['canary', 'status', 'greet-person'])).out).toContain('rolled back')
    expect((await run(['resolve', 'greet-person@^1', '--json'])).out).toContain('"1.0.0"')
  })
})

describe('two canaries of one skill', () => {
  it('are told apart by their versions', async () => {
    await change('release', 'greet-person', '2.0.0')
    expect((await change('canary', 'start', 'greet-person', '1.2.0', '--percent', '100', '--unit', 'session')).code).toBe(0)
    const later = await change('canary', 'start', 'greet-person', '2.1.0', '--percent', '10', '--force', '--start-at', '2099-01-01')
    expect(later.out).toContain('goes to 10 % of agents from 2099-01-01 00:00:00 UTC on')
    const both = await change('rollback', 'greet-person')
    expect([both.code, both.err]).toEqual([
      2,
      expect.stringMatching(
        /2 active rollouts[^]*2\.1\.0, scheduled at 10 % of agents\n[^]*1\.2\.0, running at 100 % of sessions\n {2}hint: /,
      ),
    ])
    expect((await change('canary', 'cancel', 'greet-person@2.1.0')).out).toContain('stays a candidate; its rollout is cancelled')
    expect((await change('promote', 'greet-person')).out).toContain('1.2.0 is promoted')
  })
})

describe('versions and lines', () => {
  it('a revert finds the line, and says what it yanks along', async () => {
    await change('release', 'greet-person', '1.3.0')
    expect((await look('revert', 'greet-person', '--to', '1.0.0')).out).toMatch(
      /^revert line 1 of greet-person to 1\.0\.0\nversion 1\.3\.0 +released → yanked\nversion 1\.2\.0 +released → yanked\nline 1 +serves 1\.0\.0 \(now: 1\.3\.0\)\n/,
    )
    expect((await change('revert', 'greet-person', '--to', '1.0.0', '--line', '2')).code).toBe(5)
    expect((await change('revert', 'greet-person', '--to', '1.0.0')).out).toBe(
      'greet-person: line 1 serves 1.0.0 (before: 1.3.0)\nyanked along with it: 1.2.0, 1.3.0\napplied on the one replica there is\n',
    )
  })
  it('a deprecation has a date and a replacement', async () => {
    const ran = await change('deprecate', 'greet-person', '1.0.0', '--sunset', '2099-12-31', '--replacement', '2.0.0')
    expect([ran.code, ran.out]).toEqual([0, 'greet-person 1.0.0 is deprecated now; line 1 serves 1.0.0\n'])
    expect((await run(['show', 'greet-person', '--versions'])).out).toMatch(
      /1\.0\.0 +deprecated .*goes away on 2099-12-31; 2\.0\.0 replaces it/,
    )
    expect((await change('deprecate', 'greet-person', '1.0.0', '--replacement', '7.0.0')).code).toBe(5)
  })
  it('a yank can be taken back, a block cannot', async () => {
    expect((await change('unyank', 'greet-person', '1.3.0')).out).toBe('greet-person 1.3.0 is released now; line 1 serves 1.0.0\n')
    expect((await change('yank', 'greet-person', '1.3.0')).out).toContain('1.3.0 is yanked now')
    expect((await change('block', 'greet-person', '1.3.0', '--replacement', '1.0.0')).out).toContain('1.3.0 is blocked now')
    expect((await change('block', 'greet-person', '1.3.0')).out).toContain('was blocked already')
    const final = await change('unyank', 'greet-person', '1.3.0')
    expect([final.code, final.err]).toEqual([6, expect.stringContaining('blocked, which is final')])
  })
})

describe('who works with a skill', () => {
  it('is listed with the range, the version and the calls', async () => {
    const { code, out } = await run(['dependents', 'greet-person', '--days', '1'])
    expect(code).toBe(0)
    expect(out).toMatch(/bot +\(calls only\) +\^1 +1\.0\.0 \(stable\) +1 +20\d\d-.* +deprecated; called 1\.0\.0 × 1$/m)
    expect(out).toMatch(/pinned-bot +\(calls only\) +1\.0\.0 +1\.0\.0 \(pinned\)/)
    expect((await run(['dependents', 'absent-skill'])).code).toBe(5)
    expect((await run(['dependents', 'greet-person', '--days', '91'])).code).toBe(2)
  })
  it('is looked up for one agent, now and as it was', async () => {
    const now = await run(['resolve', '--agent', 'bot', 'greet-person', '^1'])
    expect([now.code, now.out]).toEqual([0, expect.stringMatching(/gets +1\.0\.0 \(stable\)\n[^]*last call .* 1\.0\.0 \(stable\); call /)])
    const { items } = json<{ items: { started_at: string; version: string }[] }>(await run(['canary', 'status', '--all', '--json']))
    const begun = items.find(({ version }) => version === '1.1.0')?.started_at ?? ''
    const then = json(await run(['resolve', '--agent', 'bot', '--at', begun, 'greet-person@^1', '--json']))
    expect(then).toMatchObject({ version: '1.1.0', via: 'allow', rollouts: [{ version: '1.1.0', percent: 50 }] })
    expect((await run(['resolve', '--agent', 'bot', '--at', '2020-01-01', 'greet-person'])).code).toBe(5)
    expect((await run(['resolve', '--agent', 'bot', 'greet-person', '^9'])).err).toBe('')
    expect((await run(['resolve', '--agent', 'nobody', 'greet-person'])).code).toBe(5)
    expect((await run(['resolve', '--agent', 'bot', 'greet-person', '^1', '^2'])).code).toBe(2)
  })
})
