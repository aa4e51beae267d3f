import type { Connection, CreateConnectionBody } from '@repertoire/contract'
import { Refusal, requireRole, type Caller, type ConnectionRecord, type CredentialRef } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Names a base URL that executors may reach; what it says of credentials is where they lie, never what they are. */
export async function createConnection(deps: Deps, caller: Caller, input: CreateConnectionBody): Promise<Connection> {
  requireRole(caller, 'admin')
  const url = new URL(input.base_url)
  if (url.username !== '' || url.password !== '')
    throw new Refusal('INVALID_REQUEST', 'A base URL carries no credentials.', {
      hint: 'name a header whose value comes from a file or an environment variable',
      details: [{ path: '/base_url', rule: 'no_credentials' }],
    })
  return deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    const inserted = await tx.connections.insert({ name: input.name, baseUrl: input.base_url, headers: input.headers, at, by: caller.id })
    if (!inserted)
      throw new Refusal('CONFLICT', `There is a connection ${input.name} already.`, { hint: 'remove it first, or choose another name' })
    const shown = showConnection({ name: input.name, baseUrl: input.base_url, headers: input.headers, createdAt: at.toISOString() })
    await tx.audit.append({ caller, action: 'connection.create', subject: input.name, after: shown, at })
    return shown
  })
}

/** A connection as its readers see it. */
export function showConnection(connection: ConnectionRecord): Connection {
  const headers = Object.fromEntries(Object.entries(connection.headers).map(([name, ref]) => [name, describeRef(ref)]))
  return { name: connection.name, base_url: connection.baseUrl, headers, created_at: connection.createdAt }
}

function describeRef(ref: CredentialRef): string {
  return 'env' in ref ? `from the environment variable ${ref.env}` : `from the file ${ref.file}`
}
