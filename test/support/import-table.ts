/** A room of the house: which files are in it, which rooms it may import, and which packages. */
export type Room = {
  readonly name: string
  readonly holds: RegExp
  readonly rooms: readonly string[]
  readonly packages: readonly string[]
}

const registry = 'services/registry/src/'
const verbPackages = ['@repertoire/contract', '@repertoire/core', 'node:crypto', 'node:timers/promises']

/**
 * Who may import whom. A file that is in no room fails the test, and so does an import that no row allows: what is new has to
 * be placed here first. Within a room everything may import everything.
 */
export const rooms: readonly Room[] = [
  { name: 'contract', holds: /^packages\/contract\/src\//, rooms: [], packages: ['zod'] },
  {
    name: 'core',
    holds: /^packages\/core\/src\/(?!.*\.test\.ts$)/,
    rooms: [],
    packages: [
      '@repertoire/contract',
      'immutable',
      'semver',
      'ajv',
      'ajv/dist/2020.js',
      'ajv-formats',
      're2js',
      'yaml',
      'node:crypto',
      'node:zlib',
    ],
  },
  { name: 'sdk', holds: /^packages\/sdk\/src\//, rooms: [], packages: ['@repertoire/contract/sdk'] },
  {
    name: 'cli',
    holds: /^packages\/cli\/src\//,
    rooms: [],
    packages: ['@repertoire/contract/sdk', '@repertoire/core', '@repertoire/sdk', 'commander', 'cli-table3', 'cli-progress', 'node:*'],
  },
  {
    name: 'runner',
    holds: /^services\/runner\/src\/(?!.*\.test\.ts$)/,
    rooms: [],
    packages: ['@repertoire/contract', 'ipaddr.js', 'nodemailer', 'oxc-transform', 'undici', 'zod', 'node:*'],
  },

  {
    name: 'ports',
    holds: new RegExp(`^${registry}(ports|call-ports|stored|counted|places|tail|visit|ids|slots|utf8)\\.ts$`),
    rooms: [],
    packages: ['@repertoire/contract', '@repertoire/core', 'node:buffer', 'node:crypto'],
  },
  {
    name: 'config',
    holds: new RegExp(`^${registry}config\\.ts$`),
    rooms: [],
    packages: ['@repertoire/contract', '@repertoire/core', 'node:net', 'node:os', 'node:path'],
  },
  { name: 'metrics', holds: new RegExp(`^${registry}metrics\\.ts$`), rooms: [], packages: ['prom-client'] },
  // Verb folders do not import each other: what two share is a rule of core or a query of the store.
  ...['catalogue', 'calls', 'access', 'audit', 'connections', 'rollouts', 'stats'].map((noun) => ({
    name: `verbs/${noun}`,
    holds: new RegExp(`^${registry}${noun}/`),
    rooms: ['ports'],
    packages: verbPackages,
  })),
  {
    name: 'store',
    holds: new RegExp(`^${registry}store/`),
    rooms: ['ports'],
    packages: ['@repertoire/contract', '@repertoire/core', 'drizzle-orm', 'drizzle-orm/*', 'postgres', 'node:*'],
  },
  {
    name: 'log',
    holds: new RegExp(`^${registry}log/`),
    rooms: ['ports', 'store'],
    packages: ['@repertoire/contract', '@repertoire/core', 'postgres', 'pino', 'node:*'],
  },
  {
    name: 'executors',
    holds: new RegExp(`^${registry}executors/`),
    rooms: ['ports'],
    packages: ['@repertoire/contract', '@repertoire/core', 'undici', 'node:events', 'node:fs/promises', 'node:path'],
  },
  { name: 'postgres', holds: new RegExp(`^${registry}postgres/`), rooms: [], packages: ['node:*'] },
  {
    name: 'http',
    holds: new RegExp(`^${registry}http/`),
    rooms: ['ports', 'verbs/*'],
    packages: [
      '@repertoire/contract',
      '@repertoire/core',
      'hono',
      '@hono/node-server',
      'jose',
      'undici',
      'zod',
      'busboy',
      'yauzl',
      'node:*',
    ],
  },
  {
    name: 'app',
    holds: new RegExp(`^${registry}app\\.ts$`),
    rooms: ['http'],
    packages: ['@repertoire/contract', '@repertoire/core', 'hono'],
  },
  {
    name: 'start',
    holds: new RegExp(`^${registry}start/(?!.*\\.test\\.ts$)`),
    rooms: ['app', 'config', 'metrics', 'ports', 'verbs/*', 'store', 'log', 'executors', 'postgres', 'http'],
    packages: ['@repertoire/contract', '@repertoire/core', 'pino', 'node:*'],
  },
  { name: 'main', holds: new RegExp(`^${registry}main\\.ts$`), rooms: ['config', 'start'], packages: [] },

  // Tests may look everywhere.
  {
    name: 'tests',
    holds: /^(test\/|packages\/[^/]+\/(test\/|src\/.*\.test\.ts$)|services\/[^/]+\/(test\/|src\/.*\.test\.ts$))/,
    rooms: ['*'],
    packages: ['*'],
  },
]

/** Where the clock, the environment and the network may be touched. */
export const homes = {
  environment: [
    /^services\/registry\/src\/main\.ts$/,
    /^services\/registry\/src\/start\/driver-faults\.ts$/,
    /^services\/runner\/src\/(main|children\/run-child)\.ts$/,
    /^packages\/cli\/src\/environment\.ts$/,
    /^packages\/sdk\/src\/repertoire\.ts$/,
  ],
  clock: [
    /^services\/registry\/src\/(start|postgres|log|store)\//,
    /^services\/runner\/src\//,
    /^packages\/cli\/src\//,
    /^packages\/sdk\/src\//,
  ],
  fetch: [/^packages\/sdk\/src\//],
} as const
