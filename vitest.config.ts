import { defineConfig } from 'vitest/config'
import { isDriverFault } from './services/registry/src/store/driver-fault.ts'

// Tests run from source, with nothing built; only end-to-end tests start what was built.
const conditions = ['source', 'node']
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } }

export default defineConfig({
  test: {
    // What ends no registry fails no test either; everything else that nobody catches does.
    onUnhandledError: (error) => !isDriverFault(Object.assign(new TypeError(error.message), { stack: error.stack })),
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'services/runner/test/**/*.test.ts',
            'test/*.test.ts',
          ],
          exclude: ['**/*.e2e.test.ts', '**/node_modules/**', '**/dist/**'],
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          include: ['services/registry/test/**/*.test.ts', 'test/skills/**/*.test.ts'],
          globalSetup: ['test/support/postgres-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts', 'test/chaos/**/*.e2e.test.ts', 'packages/*/test/**/*.e2e.test.ts'],
          // They start processes and measure time, so one file at a time.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
