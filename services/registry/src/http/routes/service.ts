import { endpoints } from '@repertoire/contract'
import { requireRole } from '@repertoire/core'
import { renderDocs } from '../docs-page.ts'
import { openApiDocument } from '../openapi.ts'
import { route, type Route } from '../route.ts'

/** Routes about the service itself. They keep the shapes their readers know. */
export const serviceRoutes: readonly Route[] = [
  route(endpoints.health, () => Response.json({ ok: true })),
  route(endpoints.ready, ({ deps }) => {
    const isReady = deps.snapshot().revision > 0 && !deps.health.isStopping()
    return Response.json(
      { ready: isReady, revision: deps.snapshot().revision, degraded: deps.health.degraded() },
      { status: isReady ? 200 : 503 },
    )
  }),
  route(endpoints.openapi, () => Response.json(openApiDocument())),
  route(
    endpoints.docs,
    () =>
      new Response(renderDocs(), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
          'x-content-type-options': 'nosniff',
        },
      }),
  ),
  route(endpoints.metrics, async ({ deps, visit }) => {
    requireRole(visit.caller, 'auditor')
    const { type, text } = await deps.renderMetrics()
    return new Response(text, { headers: { 'content-type': type } })
  }),
]
