import type { Connection } from '@repertoire/contract'
import { requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showConnection } from './create-connection.ts'

/** The named connections, by name. */
export function listConnections(deps: Deps, caller: Caller): { readonly items: Connection[]; readonly next_cursor: null } {
  requireRole(caller, 'admin')
  const connections = [...deps.snapshot().connections.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return { items: connections.map(showConnection), next_cursor: null }
}
