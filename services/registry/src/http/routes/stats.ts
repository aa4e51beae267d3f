import { endpoints } from '@repertoire/contract'
import { compareVersions } from '../../stats/compare-versions.ts'
import { listAttempts } from '../../stats/list-attempts.ts'
import { listDenials } from '../../stats/list-denials.ts'
import { listFeedback } from '../../stats/list-feedback.ts'
import { listMissedSearches } from '../../stats/list-missed-searches.ts'
import { listRefusals } from '../../stats/list-refusals.ts'
import { listTopErrors } from '../../stats/list-top-errors.ts'
import { listUnusedSkills } from '../../stats/list-unused-skills.ts'
import { listViolations } from '../../stats/list-violations.ts'
import { showCallStats } from '../../stats/show-call-stats.ts'
import { respond } from '../respond.ts'
import { route, type Route } from '../route.ts'

/** Routes that count what the call log holds. */
export const statsRoutes: readonly Route[] = [
  route(endpoints.callStats, async ({ c, deps, visit, query }) => respond(c, await showCallStats(deps, visit.caller, query))),
  route(endpoints.compareVersions, async ({ c, deps, visit, query }) => respond(c, await compareVersions(deps, visit.caller, query))),
  route(endpoints.errorStats, async ({ c, deps, visit, query }) => respond(c, await listTopErrors(deps, visit.caller, query))),
  route(endpoints.denialStats, async ({ c, deps, visit, query }) => respond(c, await listDenials(deps, visit.caller, query))),
  route(endpoints.violationStats, async ({ c, deps, visit, query }) => respond(c, await listViolations(deps, visit.caller, query))),
  route(endpoints.attemptStats, async ({ c, deps, visit, query }) => respond(c, await listAttempts(deps, visit.caller, query))),
  route(endpoints.refusalStats, async ({ c, deps, visit, query }) => respond(c, await listRefusals(deps, visit.caller, query))),
  route(endpoints.feedbackStats, async ({ c, deps, visit, query }) => respond(c, await listFeedback(deps, visit.caller, query))),
  route(endpoints.unusedStats, async ({ c, deps, visit, query }) => respond(c, await listUnusedSkills(deps, visit.caller, query))),
  route(endpoints.searchStats, async ({ c, deps, visit, query }) => respond(c, await listMissedSearches(deps, visit.caller, query))),
]
