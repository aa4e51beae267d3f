import type { Executor } from '../ports.ts'

/** Skills that another MCP server carries out can be published, and are refused when called: nothing here speaks to such a server. */
export const mcpExecutor: Executor = {
  execute: async ({ version }) => ({
    kind: 'failed',
    code: 'EXECUTOR_FAILED',
    reason: 'executor_missing',
    message: `${version.manifest.name} ${version.version} is carried out by an MCP server, and this registry has no executor for that.`,
    details: [],
  }),
}
