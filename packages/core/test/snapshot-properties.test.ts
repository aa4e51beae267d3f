import { applyChanges, emptySnapshot, lineOf, parseExact, type Changes, type Snapshot, type VersionRecord } from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'
import { changesAt, rolloutOf, versionOf } from './skill-fixture.ts'

type Rows = { -readonly [Kind in keyof Omit<Changes, 'installId' | 'epoch' | 'revision'>]: Changes[Kind][number] }
type Row = { [Kind in keyof Rows]: { readonly kind: Kind; readonly id: string; readonly row: Rows[Kind] } }[keyof Rows]

const versions = ['0.1.0', '1.0.0', '1.1.0', '1.2.0', '2.0.0']
const status = fc.constantFrom('candidate', 'released', 'deprecated', 'yanked', 'blocked' as const)
const seed = fc.record({ what: fc.nat(7), n: fc.nat(79), version: fc.constantFrom(...versions), status, flag: fc.boolean() })

describe('the catalogue of a replica', { timeout: patienceMs }, () => {
  it('that took every change by itself is the one that was loaded at once, in the same order', () => {
    check([fc.array(fc.array(seed, { maxLength: 6 }), { maxLength: 20 }), fc.nat(9), fc.nat(10)], (groups, large, split) => {
      const deltas = toDeltas([...(large === 0 ? [manySkills] : []), ...groups])
      const oneByOne = deltas.reduce((at, delta, index) => applyChanges(at, changesAt(index + 1, rowsOf(delta))), emptySnapshot)
      const first = deltas.slice(0, split)
      const atOnce = applyChanges(emptySnapshot, changesAt(deltas.length, rowsOf(deltas.flat())))
      const inTwo = applyChanges(
        applyChanges(emptySnapshot, changesAt(first.length, rowsOf(first.flat()))),
        changesAt(deltas.length, rowsOf(deltas.slice(split).flat())),
      )
      if (deltas.length === 0) return
      const expected = JSON.stringify(told(atOnce))
      for (const other of [oneByOne, inTwo]) expect(JSON.stringify(told(other))).toBe(expected)
    })
  })
})

type Seed = typeof seed extends fc.Arbitrary<infer Value> ? Value : never

// More than what is put into place one by one.
const manySkills: Seed[] = Array.from({ length: 80 }, (_, n) => ({ what: 0, n, version: '1.0.0', status: 'candidate', flag: n % 2 === 0 }))

// Rows name only what is there already, as foreign keys make sure.
function toDeltas(groups: readonly (readonly Seed[])[]): Row[][] {
  const skills = new Set<string>()
  const agents = new Set<string>()
  const published = new Map<string, VersionRecord>()
  return groups.map((group) =>
    group.flatMap((one): Row[] => {
      const skillId = `skill-${one.n}`
      const rows: Row[] = []
      // Two skills may share a position; then their names decide.
      const row = { id: skillId, name: skillId, team: null, position: (one.n * 7) % 40, revision: 1 }
      if (one.what < 5 && !skills.has(skillId)) rows.push({ kind: 'skills', id: skillId, row })
      if (one.what < 5) skills.add(skillId)
      return [...rows, ...rowsFor(one, { skillId, agents, published })]
    }),
  )
}

type Known = { readonly skillId: string; readonly agents: Set<string>; readonly published: Map<string, VersionRecord> }

function rowsFor({ what, n, version, status: now, flag }: Seed, { skillId, agents, published }: Known): Row[] {
  const id = `${skillId}@${version}`
  const agentId = `agent-${n % 5}`
  if (what >= 5 && !agents.has(agentId)) {
    agents.add(agentId)
    const row = { id: agentId, name: agentId, role: 'agent', team: null, tenant: null, domains: [], disabled: flag } as const
    return [{ kind: 'agents', id: agentId, row }]
  }
  if (what < 5 && !published.has(id)) {
    const row = versionOf({ version, status: now, isPrivate: flag }, skillId)
    published.set(id, row)
    return [{ kind: 'versions', id, row }]
  }
  const line = lineOf(parseExact(version) ?? versionOf({ version }).semver)
  switch (what) {
    case 0:
    case 1:
      return [{ kind: 'versions', id, row: { ...versionOf({ version, isPrivate: flag }, skillId), status: now } }]
    case 2:
      return [{ kind: 'lines', id: `${skillId} ${line}`, row: { skillId, line, stable: flag ? version : null } }]
    case 3:
    case 4: {
      const row = rolloutOf({ id, skillId, line, candidate: version, state: flag ? 'running' : 'cancelled' })
      return [{ kind: 'rollouts', id, row }]
    }
    case 5: {
      const grant = { id: `${agentId} ${version}`, agentId, pattern: version, deny: false, expiresAt: null, removed: flag }
      return [{ kind: 'grants', id: grant.id, row: grant }]
    }
    case 6: {
      const row = { agentId, instance: n % 2 === 0 ? 'default' : 'other', key: version, range: flag ? '^1' : null }
      return [{ kind: 'requirements', id: `${agentId} ${row.instance} ${version}`, row }]
    }
    default:
      return flag
        ? [{ kind: 'connections', id: version, row: { name: version, baseUrl: skillId, headers: {}, createdAt: '', removed: n % 2 === 0 } }]
        : [
            {
              kind: 'keys',
              id: version,
              row: { id: version, agentId, hash: version, expiresAt: null, rotated: false, revoked: n % 2 === 0 },
            },
          ]
  }
}

// What a query for all that changed gives: of every row, what it is by now.
function rowsOf(rows: readonly Row[]): Partial<Changes> {
  const newest = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]))
  const kinds = new Map<string, unknown[]>()
  for (const { kind, row } of newest.values()) kinds.set(kind, [...(kinds.get(kind) ?? []), row])
  return Object.fromEntries(kinds) as Partial<Changes>
}

function told(snapshot: Snapshot): unknown {
  const sorted = <V>(entries: Iterable<readonly [string, V]>): (readonly [string, V])[] => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    ordered: snapshot.ordered.map((skill) => ({
      ...skill,
      isTheOneByKey: snapshot.skills.get(skill.key) === skill,
      key: snapshot.skillKeys.get(skill.id),
      versions: skill.versions.map(({ version, status: now }) => `${version} ${now}`),
      byVersion: [...skill.byVersion.keys()].sort(),
      stable: sorted(skill.stable).map(([line, version]) => [line, version === skill.byVersion.get(version.version) && version.version]),
      rollouts: skill.rollouts.map(({ id, state }) => `${id} ${state}`),
    })),
    sizes: [snapshot.skills.size, snapshot.skillKeys.size, snapshot.revision],
    agents: sorted(snapshot.agents).map(([, agent]) => ({ ...agent, grants: agent.grants.map(({ id }) => id).sort() })),
    keys: sorted(snapshot.keys),
    requirements: sorted(snapshot.requirements).map(([id, instances]) => [
      id,
      sorted(instances).map(([name, ranges]) => [name, sorted(ranges)]),
    ]),
    connections: sorted(snapshot.connections),
  }
}
