import { lineOf, parseExact, type Changes, type ResolveContext, type RolloutRecord, type VersionRecord } from '@repertoire/core'

/** How large a catalogue is. */
export type Size = { readonly skills: number; readonly versions: number }

/** A random number below a limit, the same sequence every time. */
export type Random = (limit: number) => number

/** A generator that starts anew with every seed. */
export function randomFrom(seed: number): Random {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** The version that comes as the nth of some: four to a minor, twelve to a major, the newest a candidate. */
export const versionAt = (n: number): string => `${1 + Math.floor(n / 12)}.${Math.floor((n % 12) / 4)}.${n % 4}`

/**
 * The rows of a large catalogue, every text a string of its own as it comes from the database: a description of 150
 * characters, schemas of 400 and 200, and 2 000 of instructions that change with every fourth version. A tenth of the skills
 * has a rollout of its newest version at 10 %.
 */
export function largeCatalogue({ skills, versions }: Size): Changes {
  const rows: VersionRecord[] = []
  const lines: Changes['lines'][number][] = []
  const rollouts: RolloutRecord[] = []
  for (let skill = 0; skill < skills; skill += 1) {
    const id = skillId(skill)
    const isRolling = skill % 10 === 0 && versions > 1
    const stable = new Map<string, string>()
    for (let n = 0; n < versions; n += 1) {
      const isCandidate = isRolling && n === versions - 1
      const row = versionRow(skill, n, isCandidate)
      rows.push(row)
      if (isCandidate) rollouts.push(rolloutRow(id, row))
      else stable.set(row.line, row.version)
    }
    for (const [line, version] of stable) lines.push({ skillId: id, line, stable: version })
  }
  const skillRows = Array.from({ length: skills }, (_, n) => ({ id: skillId(n), name: skillName(n), team: null, position: n, revision: 1 }))
  return changesAt(1, { skills: skillRows, versions: rows, lines, rollouts })
}

/** Changes up to a revision, where only some rows changed. */
export function changesAt(revision: number, rows: Partial<Changes>): Changes {
  const none = {
    skills: [],
    versions: [],
    lines: [],
    rollouts: [],
    agents: [],
    keys: [],
    grants: [],
    requirements: [],
    connections: [],
    quotas: [],
  }
  return { installId: 'bench', epoch: 1, revision, ...none, ...rows }
}

/** Agents that hold every tag, each with its own sticky key. */
export function agentContexts(count: number): ResolveContext[] {
  return Array.from({ length: count }, (_, n) => ({
    agentId: `agent-${n}`,
    team: null,
    pinsCandidates: false,
    holds: () => true,
    units: { agent: `agent-${n}`, session: `session-${n}` },
  }))
}

/** A range as agents declare them: half with a caret, a fifth with a tilde, and tenths without bounds, between two, and pinned. */
export function declaredRange(random: Random, versions: number): string {
  const version = versionAt(random(versions - 1))
  const kind = random(10)
  if (kind < 5) return `^${version}`
  if (kind < 7) return `~${version}`
  if (kind < 8) return '*'
  return kind < 9 ? `>=${version} <3` : version
}

/** The key of the nth skill. */
export const skillName = (n: number): string => `skill-${String(n).padStart(6, '0')}`

const skillId = (n: number): string => `01JABCDEFGHJKMNPQRST${String(n).padStart(6, '0')}`

function versionRow(skill: number, n: number, isCandidate: boolean): VersionRecord {
  const version = versionAt(n)
  const semver = parseExact(version)
  if (semver === undefined) throw new Error(`${version} is no version`)
  const name = skillName(skill)
  const row = {
    id: `01JABCDEFG${skill.toString(36).padStart(8, '0')}${n.toString(36).padStart(8, '0')}`,
    skillId: skillId(skill),
    version,
    line: lineOf(semver),
    status: isCandidate ? 'candidate' : 'released',
    formerStatus: isCandidate ? null : 'candidate',
    statusReason: null,
    statusChangedAt: '2026-01-01T00:00:00.000Z',
    replacement: null,
    sunsetAt: null,
    digest: `sha256:${String(skill * 100 + n).padStart(64, '0')}`,
    schemaDigest: `sha256:${String(skill).padStart(64, '0')}`,
    inputSchema: text(400, `{"type":"object","title":"${name}"`),
    outputSchema: text(200, `{"type":"object","title":"${name}"`),
    extra: {},
    defaults: {},
    instructions: text(2000, `# ${name} ${Math.floor(n / 4)} `),
    kind: 'http',
    entry: null,
    files: [{ path: 'SKILL.md', bytes: 2400, digest: `sha256:${String(skill * 100 + n).padStart(64, '1')}` }],
    source: 'api',
    publishedBy: 'publisher',
    publisherTeam: 'team',
    publishedAt: '2026-01-01T00:00:00.000Z',
    manifest: {
      name,
      description: text(150, `Looks up ${name} by its number.`),
      version,
      tags: ['orders', 'shop'],
      permission: ['orders:read'],
      private: false,
      core: false,
      effects: 'read',
      timeout_ms: 10_000,
      examples: [],
      errors: [],
      unlocks: [],
      approval: 'none',
      executor: { kind: 'http', connection: 'shop', path: '/orders', method: 'POST' },
    },
  }
  return { ...(JSON.parse(JSON.stringify(row)) as Omit<VersionRecord, 'semver'>), semver }
}

function text(length: number, start: string): string {
  return (start + ' It says what to give, what comes back, and when to ask for it.'.repeat(Math.ceil(length / 60))).slice(0, length)
}

function rolloutRow(id: string, { line, version }: VersionRecord): RolloutRecord {
  return {
    id: `rollout-${id}`,
    skillId: id,
    line,
    candidate: version,
    previousStable: null,
    state: 'running',
    pausedReason: null,
    pausedNote: null,
    basisPoints: 1000,
    agreedBasisPoints: 1000,
    unit: 'agent',
    salt: `salt-${id}`,
    allow: [],
    deny: [],
    steps: [],
    stepIndex: -1,
    stepAt: null,
    startAt: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    reason: 'a bench tries it',
    createdBy: 'bench',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    endedAt: null,
  }
}
