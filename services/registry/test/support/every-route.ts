import type { endpoints, Endpoint } from '@repertoire/contract'

/** The skill that a request is about, and the ids that a path may name. */
export type AskedAbout = {
  readonly name: string
  readonly version: string
  readonly candidate: string
  readonly call: string
  readonly rollout: string
}

/** What each route that takes a body is sent; one that is not here fails the tests that ask every route, so that nobody forgets a new one. */
export const bodies: Partial<Record<keyof typeof endpoints, (item: AskedAbout) => object>> = {
  publishSkill: (item) => ({
    files: { 'SKILL.md': `---\nname: ${item.name}\nversion: 99.0.0\ndescription: x\npermission: []\neffects: read\n---\nx\n` },
  }),
  releaseVersion: () => ({ reason: 'a test tries it' }),
  transferSkill: () => ({ team: 'others', reason: 'a test tries it' }),
  deprecateVersion: () => ({ reason: 'a test tries it' }),
  yankVersion: () => ({ reason: 'a test tries it' }),
  unyankVersion: () => ({ reason: 'a test tries it' }),
  blockVersion: () => ({ reason: 'a test tries it' }),
  revertLine: (item) => ({ to: item.version, reason: 'a test tries it' }),
  startRollout: (item) => ({ version: item.candidate, percent: 5, reason: 'a test tries it' }),
  setPercent: () => ({ percent: 7, reason: 'a test tries it' }),
  pauseRollout: () => ({ reason: 'a test tries it' }),
  resumeRollout: () => ({ reason: 'a test tries it' }),
  promoteRollout: () => ({ reason: 'a test tries it' }),
  rollBackRollout: () => ({ reason: 'a test tries it' }),
  cancelRollout: () => ({ reason: 'a test tries it' }),
  resolveSkills: (item) => ({ requires: { [item.name]: '*' } }),
  callSkill: () => ({ arguments: {} }),
  cancelCall: () => ({}),
  settleCall: () => ({ happened: true, reason: 'a test tries it' }),
  replayCall: () => ({}),
  declareRequirements: (item) => ({ requires: { [item.name]: '*' } }),
  giveFeedback: () => ({ task_done: true }),
  createAgent: () => ({ id: 'made-by-nobody', name: 'x' }),
  patchAgent: () => ({ disabled: true }),
  createKey: () => ({}),
  rotateKey: () => ({}),
  createGrant: () => ({ pattern: 'vault', reason: 'a test tries it' }),
  createQuota: () => ({ agent: 'holder', per_minute: 5, reason: 'a test tries it' }),
  createConnection: () => ({ name: 'made-by-nobody', base_url: 'https://example.com' }),
}
/** The queries each route is asked with. */
export const queries: Partial<Record<keyof typeof endpoints, (item: AskedAbout) => readonly string[]>> = {
  listSkills: () => ['', '?view=full', '?view=names&domain=*'],
  describeSkill: (item) => ['', `?range=${item.version}`, `?range=${item.candidate}`, '?range=%5E99'],
  listCalls: (item) => ['', `?skill=${item.name}`, `?skill=${item.name}&version=${item.version}`],
  explainAccess: (item) => [`?skill=${item.name}`, `?skill=${item.name}&on_behalf_of=bare`],
  callStats: (item) => [
    '',
    '?group_by=skill,version,outcome',
    `?skill=${item.name}&group_by=version,arm`,
    `?skill=${item.name}&interval=hour`,
  ],
  compareVersions: (item) => [`?rollout=${item.rollout}`, `?skill=${item.name}&a=${item.version}&b=${item.candidate}`],
  errorStats: (item) => ['', `?skill=${item.name}`],
  denialStats: (item) => ['', `?skill=${item.name}`],
  violationStats: (item) => ['', `?skill=${item.name}`],
  feedbackStats: (item) => ['', `?skill=${item.name}`],
  attemptStats: (item) => ['', `?skill=${item.name}`],
  tailCalls: (item) => ['?after=0', `?skill=${item.name}&after=0`],
  exportCalls: (item) => ['', `?skill=${item.name}&format=csv`],
  resolutionAt: () => ['?agent=holder'],
  listRollouts: (item) => ['', `?skill=${item.name}`],
  listAudit: (item) => ['', `?skill=${item.name}`],
}

/** The paths of a route for a skill, with its released version and its candidate. */
export function pathsOf(endpoint: Endpoint, item: AskedAbout): string[] {
  const { call, rollout } = item
  const fill = (version: string): string =>
    endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const known: Record<string, string> = {
        name: item.name,
        version,
        line: item.version.split('.')[0] ?? '',
        path: 'references/more.md',
        id: endpoint.path.startsWith('/v1/calls') ? call : endpoint.path.startsWith('/v1/rollouts') ? rollout : 'holder',
        key: '01980000-0000-7000-8000-000000000000',
        grant: '01980000-0000-7000-8000-000000000000',
      }
      const value = known[name]
      if (value === undefined) throw new Error(`say in this test what {${name}} of ${endpoint.path} is`)
      return value
    })
  return endpoint.path.includes('{version}') ? [fill(item.version), fill(item.candidate)] : [fill(item.version)]
}
