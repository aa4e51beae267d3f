import { accessEndpoints } from './access-endpoints.ts'
import { callEndpoints } from './call-endpoints.ts'
import type { Endpoint } from './endpoint.ts'
import { rolloutEndpoints } from './rollout-endpoints.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import { skillEndpoints } from './skill-endpoints.ts'
import { statsEndpoints } from './stats-endpoints.ts'

/** Every route there is; routing, authentication, the OpenAPI document and `/docs` are made from this list. */
export const endpoints = {
  ...serviceEndpoints,
  ...skillEndpoints,
  ...rolloutEndpoints,
  ...callEndpoints,
  ...statsEndpoints,
  ...accessEndpoints,
} as const satisfies Record<string, Endpoint>

/** The name of a route. */
export type EndpointName = keyof typeof endpoints
