import { limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { Hono } from 'hono'
import { authenticate } from './http/authenticate.ts'
import type { DoorEnv, HttpDeps } from './http/door.ts'
import { respondError } from './http/respond.ts'
import { honoPath, type Route } from './http/route.ts'
import { accessRoutes } from './http/routes/access.ts'
import { callRoutes } from './http/routes/calls.ts'
import { publishRoutes } from './http/routes/publish.ts'
import { rolloutRoutes } from './http/routes/rollouts.ts'
import { serviceRoutes } from './http/routes/service.ts'
import { skillRoutes } from './http/routes/skills.ts'
import { statsRoutes } from './http/routes/stats.ts'

/** Every route there is. */
export const routes: readonly Route[] = [
  ...serviceRoutes,
  ...skillRoutes,
  ...publishRoutes,
  ...rolloutRoutes,
  ...accessRoutes,
  ...callRoutes,
  ...statsRoutes,
]

/** The HTTP surface: one door, the routes of the contract, and an envelope for whatever else comes. */
export function createApp(deps: HttpDeps): Hono<DoorEnv> {
  const app = new Hono<DoorEnv>({ strict: true })
  app.use('*', authenticate(deps))
  app.use('*', async (c, next) => {
    if (c.req.url.length <= limits.urlBytes) return next()
    return respondError(
      c,
      new Refusal('INVALID_REQUEST', `The address is longer than ${limits.urlBytes} bytes.`, {
        details: [{ path: '', rule: 'url_length' }],
      }),
    )
  })
  for (const route of routes) route.mount(app, deps)
  for (const [path, methods] of methodsByPath()) {
    app.all(honoPath(path), (c) =>
      respondError(
        c,
        new Refusal('METHOD_NOT_ALLOWED', `${c.req.method} is not a method of this path.`, {
          hint: `use ${methods.join(' or ')}`,
          headers: { allow: methods.join(', ') },
        }),
      ),
    )
  }
  app.notFound((c) => respondError(c, new Refusal('NOT_FOUND', 'There is no such route.', { hint: 'GET /docs lists the routes' })))
  app.onError((error, c) => respondError(c, error))
  return app
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { endpoint } of routes) methods.set(endpoint.path, [...(methods.get(endpoint.path) ?? []), endpoint.method])
  return methods
}
