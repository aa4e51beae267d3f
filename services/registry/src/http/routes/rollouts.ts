import { endpoints, type CommandQuery } from '@repertoire/contract'
import { blockVersion } from '../../rollouts/block-version.ts'
import { cancelRollout } from '../../rollouts/cancel-rollout.ts'
import type { Given } from '../../rollouts/carry-out.ts'
import type { Answer } from '../../rollouts/command-rollout.ts'
import { deprecateVersion } from '../../rollouts/deprecate-version.ts'
import { getRollout } from '../../rollouts/get-rollout.ts'
import { listDependents } from '../../rollouts/list-dependents.ts'
import { listRollouts } from '../../rollouts/list-rollouts.ts'
import { pauseRollout } from '../../rollouts/pause-rollout.ts'
import { promoteRollout } from '../../rollouts/promote-rollout.ts'
import { resolutionAt } from '../../rollouts/resolution-at.ts'
import { resumeRollout } from '../../rollouts/resume-rollout.ts'
import { revertLine } from '../../rollouts/revert-line.ts'
import { releaseVersion } from '../../rollouts/release-version.ts'
import { rollBackRollout } from '../../rollouts/roll-back-rollout.ts'
import { setPercent } from '../../rollouts/set-percent.ts'
import { startRollout } from '../../rollouts/start-rollout.ts'
import { unyankVersion } from '../../rollouts/unyank-version.ts'
import { yankVersion } from '../../rollouts/yank-version.ts'
import type { Ask } from '../door.ts'
import { skillEtag } from '../etag.ts'
import { respond } from '../respond.ts'
import { route, type Asked, type Route } from '../route.ts'

/** Routes that move versions: commands on versions, lines and rollouts, and what to know before one is given. */
export const rolloutRoutes: readonly Route[] = [
  route(endpoints.releaseVersion, async (asked) => answer(asked.c, await releaseVersion(asked.deps, asked.visit.caller, onVersion(asked)))),
  route(endpoints.deprecateVersion, async (asked) => {
    const { sunset, replacement } = asked.body
    return answer(asked.c, await deprecateVersion(asked.deps, asked.visit.caller, { ...onVersion(asked), sunset, replacement }))
  }),
  route(endpoints.yankVersion, async (asked) => {
    const { replacement } = asked.body
    return answer(asked.c, await yankVersion(asked.deps, asked.visit.caller, { ...onVersion(asked), replacement }))
  }),
  route(endpoints.unyankVersion, async (asked) => answer(asked.c, await unyankVersion(asked.deps, asked.visit.caller, onVersion(asked)))),
  route(endpoints.blockVersion, async (asked) => {
    const { replacement } = asked.body
    return answer(asked.c, await blockVersion(asked.deps, asked.visit.caller, { ...onVersion(asked), replacement }))
  }),
  route(endpoints.revertLine, async (asked) => {
    const input = { name: asked.param('name'), line: asked.param('line'), to: asked.body.to, ...command(asked) }
    return answer(asked.c, await revertLine(asked.deps, asked.visit.caller, input))
  }),
  route(endpoints.startRollout, async (asked) => {
    const input = { name: asked.param('name'), body: asked.body, ...command(asked) }
    return answer(asked.c, await startRollout(asked.deps, asked.visit.caller, input), input.dryRun ? 200 : 201)
  }),
  route(endpoints.listRollouts, async ({ c, deps, visit, query }) => {
    const { page, revision } = await listRollouts(deps, visit.caller, query)
    return respond(c, page, revision === undefined ? {} : { revision })
  }),
  route(endpoints.getRollout, async ({ c, deps, visit, param }) => {
    const { rollout, skillRevision, revision } = await getRollout(deps, visit.caller, { id: param('id') })
    return respond(c, rollout, { revision, headers: { etag: skillEtag(skillRevision, [JSON.stringify(rollout)]) } })
  }),
  route(endpoints.setPercent, async (asked) => {
    const input = { ...onRollout(asked), percent: asked.body.percent }
    return answer(asked.c, await setPercent(asked.deps, asked.visit.caller, input))
  }),
  route(endpoints.pauseRollout, async (asked) => answer(asked.c, await pauseRollout(asked.deps, asked.visit.caller, onRollout(asked)))),
  route(endpoints.resumeRollout, async (asked) => answer(asked.c, await resumeRollout(asked.deps, asked.visit.caller, onRollout(asked)))),
  route(endpoints.promoteRollout, async (asked) => answer(asked.c, await promoteRollout(asked.deps, asked.visit.caller, onRollout(asked)))),
  route(endpoints.rollBackRollout, async (asked) =>
    answer(asked.c, await rollBackRollout(asked.deps, asked.visit.caller, onRollout(asked))),
  ),
  route(endpoints.cancelRollout, async (asked) => answer(asked.c, await cancelRollout(asked.deps, asked.visit.caller, onRollout(asked)))),
  route(endpoints.listDependents, async ({ c, deps, visit, query, param }) =>
    respond(c, await listDependents(deps, visit.caller, { ...query, name: param('name') })),
  ),
  route(endpoints.resolutionAt, async ({ c, deps, visit, query, param }) =>
    respond(c, await resolutionAt(deps, visit.caller, { ...query, name: param('name') })),
  ),
]

// What every command says of itself, whatever it is about.
type AskedCommand = Pick<Asked<typeof endpoints.promoteRollout>, 'c' | 'param'> & {
  readonly query: CommandQuery
  readonly body: { readonly reason: string; readonly accept_tags?: readonly string[] }
}

function command({ c, query, body }: AskedCommand): { readonly given: Given; readonly dryRun: boolean } {
  const given = { reason: body.reason, ifMatch: c.req.header('if-match'), waitMs: readWait(query.wait), acceptTags: body.accept_tags ?? [] }
  return { given, dryRun: query.dry_run === 'true' }
}

function onVersion(asked: AskedCommand): ReturnType<typeof command> & { readonly name: string; readonly version: string } {
  return { name: asked.param('name'), version: asked.param('version'), ...command(asked) }
}

function onRollout(asked: AskedCommand): ReturnType<typeof command> & { readonly id: string } {
  return { id: asked.param('id'), ...command(asked) }
}

function answer(c: Ask, { data, skillRevision, revision, warnings = [] }: Answer<unknown>, status = 200): Response {
  return respond(c, data, { status, revision, warnings, headers: { etag: skillEtag(skillRevision, [JSON.stringify(data)]) } })
}

function readWait(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : 1000)
}
