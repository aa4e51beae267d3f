import {
  applyChanges,
  emptySnapshot,
  parseRange,
  permit,
  rememberedRanges,
  resolve,
  tryResolve,
  type Changes,
  type GrantRecord,
  type ResolveContext,
  type SkillRecord,
  type Snapshot,
} from '@repertoire/core'
import { maxSatisfying } from 'semver'
import { agentContexts, changesAt, declaredRange, largeCatalogue, randomFrom, type Size } from './large-catalogue.ts'
import { median } from './measure.ts'
import { measureRedaction } from './redact.ts'

/** One figure of the rules in process, and what was promised. */
export type CoreFigure = { readonly what: string; readonly figure: string; readonly target: string }

type Question = {
  readonly skill: SkillRecord
  readonly text: string
  readonly context: ResolveContext
  readonly strings: readonly string[]
}

// As many as an hour's calls of a busy installation, so that nothing is asked twice in a row.
const questionCount = 1_000_000
const rounds = 5

/** What the rules cost in this process, which runs what was built. */
function benchCore(say: (figure: CoreFigure) => void): void {
  const size = { skills: 5000, versions: 20 }
  const heapBefore = heapMegabytes()
  const snapshot = load(size)
  const heapLoaded = heapMegabytes() - heapBefore
  const questions = ask(snapshot, size)
  const heapAsked = heapMegabytes()
  const { perSecond, ratio, known } = measureResolve(questions)
  say({ what: `resolve, ${name(size)}, 1 000 agents: a second`, figure: thousands(perSecond), target: '≥ 1 000 000' })
  say({ what: '… as a share of semver.maxSatisfying on the same strings', figure: `1/${(1 / ratio).toFixed(0)}`, target: '≤ 1/10' })
  say({ what: '… as a share of a map of maps that knows every answer', figure: `1/${known.toFixed(1)}`, target: '–' })
  say({ what: `heap of that snapshot, MB`, figure: heapLoaded.toFixed(0), target: '< 100' })
  say({ what: '… with what was remembered by then', figure: (heapLoaded + heapMegabytes() - heapAsked).toFixed(0), target: '–' })
  questions.length = 0
  say(measurePermit())
  for (const figure of measureRedaction()) say(figure)
  say(measureMemos(snapshot))
  for (const figure of measureChanges(snapshot, size)) say(figure)
  const flat = { skills: 100_000, versions: 1 }
  for (const figure of measureChanges(load(flat), flat)) say(figure)
}

function load(size: Size): Snapshot {
  return applyChanges(emptySnapshot, largeCatalogue(size))
}

function ask({ ordered }: Snapshot, { versions }: Size): Question[] {
  const random = randomFrom(1)
  const contexts = agentContexts(1000)
  const texts = new Map<string, string>()
  const once = (text: string): string => texts.get(text) ?? (texts.set(text, text), text)
  const strings = new Map(ordered.map((skill) => [skill, skill.versions.map(({ version }) => version)]))
  return Array.from({ length: questionCount }, () => {
    const skill = ordered[random(ordered.length)]
    const context = contexts[random(contexts.length)]
    if (skill === undefined || context === undefined) throw new Error('the catalogue is empty')
    return { skill, context, text: once(declaredRange(random, versions)), strings: strings.get(skill) ?? [] }
  })
}

type ResolveFigures = { readonly perSecond: number; readonly ratio: number; readonly known: number }

function measureResolve(questions: readonly Question[]): ResolveFigures {
  const found: { ours: number; floor: number; known: number }[] = []
  const few = questions.slice(0, 20_000)
  const answers = new Map<SkillRecord, Map<string, string>>()
  for (const { skill, text } of questions) answers.set(skill, (answers.get(skill) ?? new Map<string, string>()).set(text, skill.name))
  for (let round = 0; round <= rounds; round += 1) {
    const ours = secondsOf(() => {
      for (const { skill, text, context } of questions) resolve(skill, [parseRange(text)], context)
    })
    const floor = secondsOf(() => {
      for (const { text, strings } of few) maxSatisfying([...strings], text)
    })
    let length = 0
    const known = secondsOf(() => {
      for (const { skill, text } of questions) length += answers.get(skill)?.get(text)?.length ?? 0
    })
    // The first round warms up.
    if (round > 0 && length > 0) found.push({ ours: ours / questions.length, floor: floor / few.length, known: known / questions.length })
  }
  return {
    perSecond: 1 / median(found.map(({ ours }) => ours)),
    ratio: median(found.map(({ ours, floor }) => ours / floor)),
    known: median(found.map(({ ours, known }) => ours / known)),
  }
}

function measureMemos({ ordered }: Snapshot): CoreFigure {
  const [context] = agentContexts(1)
  const before = heapMegabytes()
  for (let n = 0; n < 1_000_000; n += 1) {
    const skill = ordered[n % ordered.length]
    if (skill !== undefined && context !== undefined) tryResolve(skill, [parseRange(`>=1.0.${n} <9`)], context)
  }
  const grown = heapMegabytes() - before
  return {
    what: 'ranges remembered after 1 000 000 different ones, and MB more',
    figure: `${thousands(rememberedRanges())}, ${grown.toFixed(0)}`,
    target: '≤ 4 096',
  }
}

// Agents by turns, as requests come; some of what each is asked about is denied to it, and some lies beyond its grants.
function measurePermit(): CoreFigure {
  const agents = Array.from({ length: 1000 }, (_, agent) => fiftyGrants(agent))
  const versions = Array.from({ length: 100 }, (_, n) => [
    `area-${n % 40}:read`,
    `area-${n % 40}:write:reports`,
    `area-${(n * 7) % 80}:list`,
  ])
  const checks = 1_000_000
  const found: number[] = []
  let allowed = 0
  for (let round = 0; round <= rounds; round += 1) {
    allowed = 0
    const seconds = secondsOf(() => {
      for (let n = 0; n < checks; n += 1)
        if (permit(agents[n % agents.length] ?? [], versions[(n * 31) % versions.length] ?? [], n).allow) allowed += 1
    })
    // The first round warms up.
    if (round > 0) found.push((seconds / checks) * 1e6)
  }
  return {
    what: `permit, 50 grants, 3 tags (${Math.round((allowed / checks) * 100)} % allowed): µs`,
    figure: median(found).toFixed(2),
    target: '≤ 5',
  }
}

function fiftyGrants(agent: number): GrantRecord[] {
  return Array.from({ length: 50 }, (_, n) => ({
    id: `grant-${agent}-${n}`,
    agentId: `agent-${agent}`,
    pattern: n === 49 ? 'area-0:list' : n % 5 === 4 ? `area-${n}:read` : `area-${n}:*`,
    deny: n === 49,
    expiresAt: n % 10 === 0 ? Number.MAX_SAFE_INTEGER : null,
  }))
}

function measureChanges(start: Snapshot, size: Size): CoreFigure[] {
  const random = randomFrom(2)
  const taken: number[] = []
  let snapshot = start
  for (let n = 0; n < 600; n += 1) {
    const skill = snapshot.ordered[random(snapshot.ordered.length)]
    if (skill === undefined) throw new Error('the catalogue is empty')
    const changes = oneChange(skill, snapshot.revision + 1, random(20))
    const seconds = secondsOf(() => (snapshot = applyChanges(snapshot, changes)))
    if (n >= 100) taken.push(seconds * 1000)
  }
  const sorted = taken.sort((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(2)
  return [{ what: `one change applied, ${name(size)}: p50 / p99 ms`, figure: `${at(0.5)} / ${at(0.99)}`, target: '≤ 5' }]
}

function oneChange({ id, versions }: SkillRecord, revision: number, pick: number): Changes {
  const version = versions[pick % versions.length]
  if (version === undefined) throw new Error('the skill has no version')
  const changed = { ...version, status: 'yanked', formerStatus: version.status } as const
  return changesAt(revision, { versions: [changed], lines: [{ skillId: id, line: version.line, stable: null }] })
}

function secondsOf(work: () => void): number {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start) / 1e9
}

function heapMegabytes(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

function name({ skills, versions }: Size): string {
  return `${thousands(skills)} skills × ${versions}`
}

function thousands(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ')
}

benchCore((figure) => process.stdout.write(`${JSON.stringify(figure)}\n`))
