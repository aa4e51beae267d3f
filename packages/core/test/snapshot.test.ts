import { applyChanges, emptySnapshot, quotasOn, type Changes, type Snapshot } from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { changesAt, rolloutOf, snapshotOf, versionOf } from './skill-fixture.ts'

const base = snapshotOf({ versions: [{ version: '1.0.0' }, { version: '1.1.0', status: 'candidate' }], stable: { '1': '1.0.0' } })
const moved = (revision: number, more: Partial<Changes> = {}): Changes =>
  changesAt(revision, { lines: [{ skillId: 'skill', line: '1', stable: '1.1.0' }], ...more })
const stable = (snapshot: Snapshot): string | undefined => snapshot.skills.get('skill')?.stable.get('1')?.version

describe('changes to a catalogue', () => {
  it('make a newer one, and leave the one before as it was', () => {
    const next = applyChanges(base, moved(2))
    expect([stable(base), base.revision, stable(next), next.revision]).toEqual(['1.0.0', 1, '1.1.0', 2])
  })
  it('that are stale never overwrite what is newer', () => {
    const next = applyChanges(base, moved(5))
    const late = changesAt(4, { lines: [{ skillId: 'skill', line: '1', stable: '1.0.0' }] })
    expect([applyChanges(next, late), applyChanges(next, { ...late, revision: 5 }), applyChanges(base, { ...late, epoch: 0 })]).toEqual([
      next,
      next,
      base,
    ])
  })
  it('of a later epoch replace everything, whatever their revision', () => {
    const restored = applyChanges(applyChanges(base, moved(9)), changesAt(3, { epoch: 2 }))
    expect([restored.epoch, restored.revision, restored.ordered, restored.skills.size]).toEqual([2, 3, [], 0])
    expect(applyChanges(restored, moved(99))).toBe(restored)
  })
  it('of another installation are ignored, also when they are newer', () => {
    expect(applyChanges(base, moved(9, { installId: 'other', epoch: 9 }))).toBe(base)
  })
  it('of any installation fill an empty catalogue', () => {
    expect(applyChanges(emptySnapshot, moved(1, { installId: 'other' })).installId).toBe('other')
  })
  it('share every skill they do not touch', () => {
    const two = applyChanges(
      base,
      changesAt(2, {
        skills: [{ id: 'other', name: 'other', team: null, position: 0, revision: 2 }],
        versions: [versionOf({ version: '1.0.0' }, 'other')],
      }),
    )
    const next = applyChanges(two, moved(3))
    expect(two.ordered.map(({ name }) => name)).toEqual(['other', 'skill'])
    expect([next.skills.get('other') === two.skills.get('other'), next.agents === two.agents, next.keys === two.keys]).toEqual([
      true,
      true,
      true,
    ])
    expect(next.skills.get('skill')).not.toBe(two.skills.get('skill'))
  })
  it('drop a rollout that ended, and a pointer that was taken away', () => {
    const running = applyChanges(base, changesAt(2, { rollouts: [rolloutOf({ candidate: '1.1.0' })] }))
    const ended = applyChanges(
      running,
      changesAt(3, {
        rollouts: [rolloutOf({ candidate: '1.1.0', state: 'cancelled' })],
        lines: [{ skillId: 'skill', line: '1', stable: null }],
      }),
    )
    expect([running.ordered[0]?.rollouts.length, ended.ordered[0]?.rollouts.length, stable(ended)]).toEqual([1, 0, undefined])
  })
  it('take grants, requirements, connections and quotas back by tombstones', () => {
    const agent = { id: 'a', name: 'A', role: 'agent', team: null, tenant: null, domains: [], disabled: false } as const
    const grant = { id: 'g', agentId: 'a', pattern: 'orders:*', deny: false, expiresAt: null }
    const connection = { name: 'shop', baseUrl: 'http://shop', headers: {}, createdAt: '2026-01-01T00:00:00.000Z' }
    const requirement = { agentId: 'a', instance: 'default', key: 'skill' }
    const given = applyChanges(
      base,
      changesAt(2, {
        agents: [agent],
        grants: [{ ...grant, removed: false }],
        requirements: [{ ...requirement, range: '^1' }],
        connections: [{ ...connection, removed: false }],
      }),
    )
    const taken = applyChanges(
      given,
      changesAt(3, {
        grants: [{ ...grant, removed: true }],
        requirements: [{ ...requirement, range: null }],
        connections: [{ ...connection, removed: true }],
      }),
    )
    const quota = { id: 'q', agentId: 'a', skillKey: 'skill', connection: null, perMinute: 5, perDay: null }
    const limited = applyChanges(taken, changesAt(4, { quotas: [{ ...quota, removed: false }] }))
    const quotaIds = (snapshot: Snapshot): string[] => [...snapshot.quotas.values()].map(({ id }) => id)
    // In one go the newer of two about the same may come first.
    const other = { ...quota, id: 'r' }
    const changed = applyChanges(
      limited,
      changesAt(5, {
        quotas: [
          { ...other, removed: false },
          { ...quota, removed: true },
        ],
      }),
    )
    const free = applyChanges(changed, changesAt(6, { quotas: [{ ...other, removed: true }] }))
    expect([limited, changed, free].map(quotaIds)).toEqual([['q'], ['r'], []])
    const on = (agentId: string, skillKey: string): number => quotasOn(limited.quotas, { agentId, skillKey, connection: null }).length
    expect([on('a', 'skill'), on('a', 'other'), on('b', 'skill')]).toEqual([1, 0, 0])
    const said = (snapshot: Snapshot): unknown[] => [
      snapshot.agents.get('a')?.grants.map(({ pattern }) => pattern),
      snapshot.requirements.get('a')?.get('default')?.get('skill'),
      snapshot.connections.get('shop'),
    ]
    expect([said(given), said(taken)]).toEqual([
      [['orders:*'], '^1', connection],
      [[], undefined, undefined],
    ])
  })
})
