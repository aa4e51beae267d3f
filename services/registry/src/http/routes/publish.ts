import { endpoints, limits, PublishBody } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { publishSkill, type PublishInput } from '../../catalogue/publish-skill.ts'
import type { Ask } from '../door.ts'
import { mediaType, parseJson, readBytes, unsupported } from '../read-body.ts'
import { readMultipart } from '../read-multipart.ts'
import { readZip } from '../read-zip.ts'
import { respond } from '../respond.ts'
import { parse, route, type Route } from '../route.ts'

/** The route that publishes. */
export const publishRoutes: readonly Route[] = [
  route(
    endpoints.publishSkill,
    async ({ c, deps, visit, query }) => {
      const bundle = await readBundle(c)
      const published = await publishSkill(deps, visit.caller, {
        ...bundle,
        dryRun: query.dry_run === 'true',
        allowSimilarName: query.allow_similar_name === 'true',
      })
      return respond(c, published, { status: published.created && query.dry_run !== 'true' ? 201 : 200 })
    },
    { readsBodyItself: true },
  ),
]

type ReadBundle = Pick<PublishInput, 'files' | 'defaults' | 'folder'>

async function readBundle(c: Ask): Promise<ReadBundle> {
  const type = mediaType(c)
  const none = { defaults: {}, folder: undefined }
  if (type === 'application/json') return readJsonBundle(await readBytes(c, limits.publishBodyBytes))
  if (type === 'application/zip') return { ...none, files: await readZip(await readBytes(c, limits.publishBodyBytes)) }
  if (type === 'multipart/form-data')
    return { ...none, files: await readMultipart(await readBytes(c, limits.publishBodyBytes), c.req.header('content-type') ?? '') }
  throw unsupported(type, 'application/json, multipart/form-data or application/zip')
}

function readJsonBundle(bytes: Uint8Array): ReadBundle {
  const { value, problem } = parseJson(bytes)
  if (problem !== undefined && problem.rule !== 'nul_character')
    throw new Refusal('INVALID_REQUEST', `The body cannot be taken: ${problem.message}.`, {
      hint: problem.fix,
      details: [{ path: problem.path, rule: problem.rule }],
    })
  const body = parse(PublishBody, value, 'body') as PublishBody
  const files = new Map<string, Uint8Array>()
  for (const [path, content] of Object.entries(body.files))
    files.set(path, typeof content === 'string' ? Buffer.from(content) : decodeBase64(path, content.base64))
  return { files, defaults: body.defaults ?? {}, folder: body.folder }
}

function decodeBase64(path: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== text.replace(/\s|=+$/g, ''))
    throw new Refusal('INVALID_REQUEST', `The base64 of ${path.slice(0, 120)} is broken.`, {
      details: [{ path: `/files/${path.slice(0, 120)}`, rule: 'base64' }],
    })
  return bytes
}
