import { endpoints } from '@repertoire/contract'
import { declareRequirements } from '../../catalogue/declare-requirements.ts'
import { describeSkill } from '../../catalogue/describe-skill.ts'
import { describeVersion } from '../../catalogue/describe-version.ts'
import type { SkillPage } from '../../catalogue/list-skills.ts'
import { listVersions } from '../../catalogue/list-versions.ts'
import { readFile } from '../../catalogue/read-file.ts'
import { rememberedList } from '../../catalogue/remember-lists.ts'
import { resolveSkills } from '../../catalogue/resolve-skills.ts'
import { deprecationHeaders } from '../deprecation.ts'
import { transferSkill } from '../../catalogue/transfer-skill.ts'
import type { Ask } from '../door.ts'
import { etagOf, isUnchanged, notModified, skillEtag, varyHeader } from '../etag.ts'
import { respond } from '../respond.ts'
import { route, type Route } from '../route.ts'

const cached = (etag: string): Record<string, string> => ({ etag, vary: varyHeader })

/** Routes that read and move skills. */
export const skillRoutes: readonly Route[] = [
  route(endpoints.listSkills, ({ c, deps, visit, query }) => {
    const page = rememberedList(deps, visit, query)
    const etag = etags.get(page) ?? etagOfPage(page, query.view)
    etags.set(page, etag)
    return isUnchanged(c, etag) ? notModified(c, etag) : writePage(c, page, etag)
  }),
  route(endpoints.describeSkill, ({ c, deps, visit, query, param }) => {
    const { detail, revision, skillRevision } = describeSkill(deps, visit, { name: param('name'), range: query.range })
    const etag = skillEtag(skillRevision, ['skill', detail.name, detail.version, detail.status, JSON.stringify(detail.resolution)])
    return isUnchanged(c, etag)
      ? notModified(c, etag)
      : respond(c, detail, { revision, warnings: detail.resolution.warnings, headers: { ...deprecationHeaders(detail), ...cached(etag) } })
  }),
  route(endpoints.listVersions, ({ c, deps, visit, param }) => {
    const { list, skillRevision } = listVersions(deps, visit, { name: param('name') })
    const etag = skillEtag(skillRevision, ['versions', JSON.stringify(list)])
    return isUnchanged(c, etag) ? notModified(c, etag) : respond(c, list, { headers: cached(etag) })
  }),
  route(endpoints.describeVersion, ({ c, deps, visit, param }) => {
    const detail = describeVersion(deps, visit, { name: param('name'), version: param('version') })
    return respond(c, detail, { warnings: detail.resolution.warnings, headers: deprecationHeaders(detail) })
  }),
  route(endpoints.readFile, async ({ c, deps, visit, param }) => {
    const { bytes, digest } = await readFile(deps, visit, { name: param('name'), version: param('version'), path: param('path') })
    // Whatever an author wrote is handed out as bytes: no browser may take it for a page of ours.
    const headers = {
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'repertoire-digest': digest,
      'repertoire-request-id': c.get('requestId'),
      ...cached(`"${digest}"`),
    }
    return isUnchanged(c, `"${digest}"`) ? notModified(c, `"${digest}"`) : new Response(Buffer.from(bytes), { headers })
  }),
  route(endpoints.transferSkill, async ({ c, deps, visit, body, param }) =>
    respond(c, await transferSkill(deps, visit.caller, { name: param('name'), ...body })),
  ),
  route(endpoints.resolveSkills, ({ c, deps, visit, body }) => {
    const resolved = resolveSkills(deps, visit, body)
    return respond(c, resolved, { revision: resolved.revision })
  }),
  route(endpoints.declareRequirements, async ({ c, deps, visit, body }) => respond(c, await declareRequirements(deps, visit, body))),
]

const etags = new WeakMap<SkillPage, string>()

function etagOfPage({ listed, nextCursor }: SkillPage, view: string): string {
  const entries = listed.map(
    ({ skill, version, via, warnings }) =>
      `${skill.name}@${version.id}.${skill.revision} ${via ?? ''} ${warnings.map(({ code, message }) => `${code} ${message}`).join(' ')}`,
  )
  return etagOf(['list', view, nextCursor ?? '', ...entries])
}

const maxCachedBytes = 16 * 1024 * 1024
const bodies = new Map<string, string>()
let cachedBytes = 0

// Many agents ask for the same list; what differs is the request id, so the data is written out once per ETag.
function writePage(c: Ask, page: SkillPage, etag: string): Response {
  const staleMs = c.get('deps').health.staleMs()
  let data = bodies.get(etag)
  if (data === undefined) {
    data = JSON.stringify(page.write())
    if (cachedBytes + data.length > maxCachedBytes) {
      bodies.clear()
      cachedBytes = 0
    }
    bodies.set(etag, data)
    cachedBytes += data.length
  }
  const meta = JSON.stringify({
    request_id: c.get('requestId'),
    revision: page.revision,
    warnings: [],
    ...(staleMs === undefined ? {} : { stale_ms: staleMs }),
  })
  return new Response(`{"ok":true,"data":${data},"error":null,"meta":${meta}}`, {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'private, no-cache',
      'repertoire-request-id': c.get('requestId'),
      ...cached(etag),
    },
  })
}
