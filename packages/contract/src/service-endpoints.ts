import type { Endpoint } from './endpoint.ts'

/** Routes about the service itself. */
export const serviceEndpoints = {
  health: { method: 'GET', path: '/healthz', access: 'anyone', summary: 'Whether the process is alive.' },
  ready: { method: 'GET', path: '/readyz', access: 'anyone', summary: 'Whether a snapshot is loaded, and what is degraded.' },
  openapi: { method: 'GET', path: '/openapi.json', access: 'anyone', summary: 'This API as an OpenAPI 3.1 document.' },
  docs: { method: 'GET', path: '/docs', access: 'anyone', summary: 'This API as a page to read.' },
  metrics: { method: 'GET', path: '/metrics', access: 'auditor', summary: 'Counters and gauges in the Prometheus text format.' },
} as const satisfies Record<string, Endpoint>
