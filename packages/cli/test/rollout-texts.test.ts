import type { Affected, DryRunReport, LineChanged, ResolutionAt, Rollout, RolloutChanged } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'
import { sayLineReverted, sayRolloutChanged, sayVersionChanged } from '../src/say-changed.ts'
import { sayDryRun } from '../src/say-dry-run.ts'
import { sayReplicas, warnOfReplicas } from '../src/say-replicas.ts'
import { sayResolutionAt } from '../src/say-resolution-at.ts'
import { sayRollout, sayRollouts } from '../src/say-rollout.ts'
import { saySpan } from '../src/say-time.ts'

const affected = (agent: string, more: Partial<Affected> = {}): Affected => ({
  agent,
  range: '^1',
  from: '1.0.0',
  to: '1.1.0',
  calls_7d: 0,
  reason: null,
  ...more,
})
const nothing: DryRunReport = {
  dry_run: true,
  would_change: false,
  would_move: [],
  would_be_denied: [],
  unreachable: [],
  exact_pins_not_moved: [],
  selected_units: null,
  population: null,
  calls_known: true,
  versions: [],
  lines: [],
  rollouts: [],
}
const say = (report: Partial<DryRunReport>, width?: number): string =>
  sayDryRun({ ...nothing, ...report }, { what: 'do it to greet 1.1.0', width })

describe('a dry run', () => {
  it('says what changes, who moves, who is refused, who gets nothing, and which pins stay', () => {
    expect(
      say({
        would_change: true,
        versions: [{ version: '1.1.0', from: 'candidate', to: 'released' }],
        lines: [{ line: '1', from: '1.0.0', to: '1.1.0' }],
        rollouts: [{ id: 'r', version: '1.1.0', state: 'promoted', percent: 25 }],
        would_move: [affected('a', { calls_7d: 3 }), affected('b', { calls_7d: 40 }), affected('b', { range: '~1', calls_7d: 1 })],
        would_be_denied: [affected('c', { reason: 'lacks orders:read' })],
        unreachable: [
          affected('d', { to: null, reason: 'No version satisfies ~1.0.' }),
          affected('e', { from: null, to: null, reason: 'No version satisfies ^9.' }),
        ],
        exact_pins_not_moved: [affected('f', { range: '1.0.0', to: '1.0.0', calls_7d: 1 })],
      }),
    ).toBe(
      [
        'do it to greet 1.1.0',
        'version 1.1.0     candidate → released',
        'line 1            serves 1.1.0 (now: 1.0.0)',
        'rollout of 1.1.0  promoted',
        '',
        '2 agents would get another version, with 44 calls in 7 days',
        'AGENT  RANGE  FROM   TO     CALLS',
        'b      ^1     1.0.0  1.1.0  40',
        'a      ^1     1.0.0  1.1.0  3',
        'b      ~1     1.0.0  1.1.0  1',
        '',
        '1 agent would be denied, with 0 calls in 7 days',
        'AGENT  RANGE  FROM   TO     CALLS  WHY',
        'c      ^1     1.0.0  1.1.0  0      lacks orders:read',
        '',
        '1 agent would get no version any more, with 0 calls in 7 days',
        'AGENT  RANGE  FROM   TO       CALLS  WHY',
        'd      ^1     1.0.0  nothing  0      No version satisfies ~1.0.',
        '',
        '1 agent would get no version, as before, with 0 calls in 7 days',
        'AGENT  RANGE  FROM     TO       CALLS  WHY',
        'e      ^1     nothing  nothing  0      No version satisfies ^9.',
        '',
        '1 agent would stay, being pinned to an exact version, with 1 call in 7 days',
        'AGENT  RANGE  FROM   TO     CALLS',
        'f      1.0.0  1.0.0  1.0.0  1',
        '',
      ].join('\n'),
    )
  })
  it('says when nothing would change', () => {
    expect(say({})).toBe('do it to greet 1.1.0: nothing would change\n\nnobody would get another version\n')
  })
  it('says how many units a share selects, where it sets one and somebody can count them', () => {
    const rollouts = [{ id: 'r', version: '1.1.0', state: 'running' as const, percent: 12.5 }]
    expect(say({ would_change: true, rollouts, selected_units: 2, population: 8 })).toMatch(
      /^rollout of 1\.1\.0 {2}running, at 12\.5 %\nselected units {4}2 of 8$/m,
    )
    expect(say({ would_change: true, rollouts, population: 8 })).toContain('not to be counted beforehand, of 8 agents')
    const ended = [{ id: 'r', version: '1.1.0', state: 'rolled_back' as const, percent: 12.5 }]
    expect(say({ would_change: true, rollouts: ended, selected_units: 2, population: 8 })).not.toContain('selected units')
  })
  it('admits that calls are not known, and does not list thousands', () => {
    const text = say({ calls_known: false, would_move: Array.from({ length: 25 }, (_, n) => affected(`a-${n}`)) })
    expect(text).toContain('25 agents would get another version\n')
    expect(text.match(/1\.1\.0 {2}\?$/gm)).toHaveLength(20)
    expect(text).toContain('and 5 more; --dry-run --json lists all\n')
    expect(text).toContain('the call log could not be asked')
  })
  it('lets no agent or reason steer the terminal', () => {
    expect(say({ would_be_denied: [affected('a\u001b[2J', { reason: 'x\u0007\ny' })] })).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })
})

const rollout: Rollout = {
  id: 'r-1',
  skill: 'greet',
  line: '1',
  version: '1.1.0',
  previous_stable: '1.0.0',
  state: 'running',
  paused_reason: null,
  paused_note: null,
  percent: 5,
  unit: 'agent',
  allow: ['vip'],
  deny: [],
  steps: [
    { percent: 5, dwell: '1h' },
    { percent: 100, dwell: '0s' },
  ],
  step: 1,
  next_move_at: '2026-03-01T13:00:00.000Z',
  start_at: null,
  started_at: '2026-03-01T12:00:00.000Z',
  reason: 'to try it',
  created_by: 'ops',
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
  ended_at: null,
  possible: ['pause', 'promote'],
}
const noon = Date.parse('2026-03-01T12:00:00Z')

describe('a rollout', () => {
  it('is said with its next move and what is possible', () => {
    expect(sayRollout(rollout, noon)).toBe(
      [
        'rollout       r-1',
        'skill         greet 1.1.0',
        'line          1, which served 1.0.0 before',
        'state         running',
        'share         5 % of agents',
        'always        vip',
        'steps         5 % for 1h (in force), then 100 %',
        'next move     to 100 % at 2026-03-01 13:00:00 UTC, in 1h',
        'reason        to try it',
        'created       2026-03-01 12:00:00 UTC by ops',
        'exposed       since 2026-03-01 12:00:00 UTC',
        'possible now  pause, promote',
        '',
      ].join('\n'),
    )
  })
  it('says what keeps it from moving, and what it does when it begins', () => {
    const paused = sayRollout(
      { ...rollout, state: 'paused', paused_reason: 'conflict', paused_note: 'line 1 moved', next_move_at: null },
      noon,
    )
    expect(paused).toMatch(/state +paused \(conflict\)\nwhy paused +line 1 moved\n[^]*next move +none by itself\n/)
    const later = { ...rollout, state: 'scheduled' as const, step: 0, started_at: null }
    expect(sayRollout(later, noon)).toMatch(/next move +to 5 % at 2026-03-01 13:00:00 UTC, in 1h\n[^]*exposed +nobody yet\n/)
    expect(sayRollout(rollout, noon + 7_200_000)).toContain('which is due')
    const over = { ...rollout, state: 'cancelled' as const, next_move_at: null, ended_at: '2026-03-01T12:30:00.000Z', possible: [] }
    expect(sayRollout(over, noon)).toMatch(/ended +2026-03-01 12:30:00 UTC\npossible now +nothing more\n$/)
    expect(sayRollout(over, noon)).not.toContain('next move')
  })
  it('is a row of a table', () => {
    expect(sayRollouts([rollout], undefined).split('\n')[1]).toBe(
      'r-1      greet@1.1.0  1     running  5 % of agents  2026-03-01 13:00:00  to try it',
    )
  })
  it.each([
    [{ state: 'running' }, 'greet 1.1.0 goes to 5 % of agents'],
    [{ state: 'scheduled', start_at: '2026-03-02T00:00:00.000Z' }, 'greet 1.1.0 goes to 5 % of agents from 2026-03-02 00:00:00 UTC on'],
    [{ state: 'paused' }, 'greet 1.1.0 is paused: it stays at 5 % of agents, and takes no step by itself'],
    [{ state: 'promoted' }, 'greet 1.1.0 is promoted; line 1 serves 1.1.0 (before: 1.0.0)'],
    [{ state: 'rolled_back' }, 'greet 1.1.0 is rolled back: no range gets it; line 1 serves 1.1.0'],
    [{ state: 'cancelled' }, 'greet 1.1.0 stays a candidate; its rollout is cancelled'],
    [{ state: 'paused', changed: false }, 'nothing changed: the rollout of greet 1.1.0 was paused at 5 % of agents already'],
    [
      { state: 'cancelled', changed: false },
      'nothing changed: the rollout of greet 1.1.0 was cancelled already; what ranges get stays as it is',
    ],
    [
      { state: 'promoted', changed: false },
      'nothing changed: the rollout of greet 1.1.0 was promoted, and 1.1.0 has been withdrawn since: no range gets it',
    ],
  ] as [Partial<RolloutChanged>, string][])('says where it stands after a command: %j', (more, text) => {
    expect(sayRolloutChanged({ ...rollout, changed: true, revision: 7, stable: '1.1.0', ...more })).toBe(`${text}\nrollout r-1\n`)
  })
})

describe('a version or a line after a command', () => {
  const line: LineChanged = {
    name: 'greet',
    line: '1',
    version: '1.1.0',
    status: 'yanked',
    stable: '1.0.0',
    previous_stable: '1.1.0',
    yanked: [],
    rollouts: [],
    changed: true,
    revision: 7,
  }
  it('is said with what its line serves and what went along', () => {
    expect(sayVersionChanged(line)).toBe('greet 1.1.0 is yanked now; line 1 serves 1.0.0 (before: 1.1.0)\n')
    expect(
      sayVersionChanged({ ...line, status: 'candidate', stable: null, previous_stable: null, changed: false, rollouts: ['r-1'] }),
    ).toBe('greet 1.1.0 was a candidate already; line 1 serves nothing\nrollouts that ended or are held now: r-1\n')
    expect(sayLineReverted({ ...line, version: '1.0.0', status: 'released', yanked: ['1.1.0'] })).toBe(
      'greet: line 1 serves 1.0.0 (before: 1.1.0)\nyanked along with it: 1.1.0\n',
    )
  })
  it('is told to hold everywhere, or where it does not', () => {
    const on = (count: number): string => sayReplicas({ revision: 1, applied: Array.from({ length: count }, (_, n) => `r${n}`) })
    expect([on(1), on(2), on(3), sayReplicas({ revision: 1 })]).toEqual([
      'applied on the one replica there is\n',
      'applied on both replicas\n',
      'applied on all 3 replicas\n',
      '',
    ])
    expect(sayReplicas({ revision: 1, applied: [], lagging: ['b'], unreachable: [] })).toBe('applied on 0 of 1 replica\n')
    expect(warnOfReplicas({ revision: 1, applied: ['a'], lagging: [], unreachable: [] })).toEqual([])
  })
})

describe('a look back', () => {
  it('says what an agent got, why not, and what had changed', () => {
    const at: ResolutionAt = {
      skill: 'greet',
      agent: 'bot',
      at: '2026-03-01T12:00:00.000Z',
      ranges: ['^2', '^1'],
      version: null,
      via: null,
      warnings: [],
      problem: { code: 'NO_MATCHING_VERSION', message: 'No version satisfies both.', hint: 'stable: 1.0.0' },
      missing_tags: [],
      stable: { '1': '1.0.0' },
      rollouts: [{ id: 'r', version: '1.1.0', state: 'running', percent: 5 }],
      last_change: { at: '2026-03-01T11:00:00.000Z', by: 'ops', action: 'rollout.start', reason: 'to try it' },
      last_call: null,
    }
    expect(sayResolutionAt(at)).toBe(
      [
        'agent        bot',
        'skill        greet',
        'at           2026-03-01 12:00:00 UTC',
        'ranges       ^2 and ^1',
        'gets         nothing (NO_MATCHING_VERSION)',
        'why not      No version satisfies both. → stable: 1.0.0',
        'lines        1 serves 1.0.0',
        'rollouts     1.1.0 running at 5 %',
        'last change  2026-03-01 11:00:00 UTC, rollout.start by ops: to try it',
        '',
      ].join('\n'),
    )
  })
  it('measures time in two units', () => {
    expect([0, 59_400, 3_600_000, 93_784_000].map(saySpan)).toEqual(['0s', '59s', '1h', '1d 2h'])
  })
})
