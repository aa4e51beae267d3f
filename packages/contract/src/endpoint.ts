import type { z } from 'zod'

/** Who may ask: `anyone` needs no key; the others name the least role. */
export type EndpointAccess = 'anyone' | 'agent' | 'publisher' | 'operator' | 'auditor' | 'admin'

/** One route of the HTTP API, with the shapes it takes and gives. */
export type Endpoint = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: EndpointAccess
  readonly summary: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly data?: z.ZodType
}
