/** Where a failure arose: in the registry, in the skill itself, or in what an executor talked to. */
export type ErrorOrigin = 'registry' | 'skill' | 'upstream'

/** What a failed call may have done to the world: nothing, perhaps something, or everything. */
export type ErrorEffect = 'none' | 'possible' | 'done'

/** What the caller does next about a failure. */
export type ErrorNext = 'fix_input' | 'retry' | 'reload' | 'ask_human' | 'give_up'

/** One row of the error catalogue: HTTP status, origin, next step, and a sentence for the documents. */
export type CatalogueEntry = {
  readonly status: number
  readonly origin: ErrorOrigin
  readonly next: ErrorNext
  readonly meaning: string
}

/** Every code this registry answers with; a code arrives together with the feature that raises it. */
export const errorCatalogue = {
  INVALID_REQUEST: {
    status: 400,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The request has an unknown parameter, a bad cursor, broken JSON, or a shape this route does not take.',
  },
  INVALID_INPUT: {
    status: 400,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The arguments do not satisfy the input schema of the version that was resolved.',
  },
  INVALID_RANGE: {
    status: 400,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The range is empty, too long, has too many alternatives, or is not an npm range.',
  },
  UNAUTHENTICATED: {
    status: 401,
    origin: 'registry',
    next: 'ask_human',
    meaning: 'The key is missing, malformed, unknown, expired or revoked.',
  },
  PERMISSION_DENIED: {
    status: 403,
    origin: 'registry',
    next: 'ask_human',
    meaning: 'The agent lacks a permission tag that the skill requires.',
  },
  ROLE_REQUIRED: { status: 403, origin: 'registry', next: 'ask_human', meaning: 'The route needs another role than the caller has.' },
  NOT_FOUND: {
    status: 404,
    origin: 'registry',
    next: 'give_up',
    meaning: 'No such route, agent, key, grant, quota, call, rollout, connection or file.',
  },
  SKILL_NOT_FOUND: { status: 404, origin: 'registry', next: 'give_up', meaning: 'No skill of that name is there for this caller.' },
  VERSION_NOT_FOUND: {
    status: 404,
    origin: 'registry',
    next: 'reload',
    meaning: 'The exact version does not exist, or is a candidate this caller may not pin.',
  },
  NO_MATCHING_VERSION: {
    status: 404,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'No version satisfies every range that was given; the hint names the cause.',
  },
  METHOD_NOT_ALLOWED: { status: 405, origin: 'registry', next: 'fix_input', meaning: 'The path exists, but not for this method.' },
  REQUEST_TIMEOUT: { status: 408, origin: 'registry', next: 'retry', meaning: 'The request did not arrive in time.' },
  CONFLICT: { status: 409, origin: 'registry', next: 'fix_input', meaning: 'Something of that id exists already.' },
  VERSION_EXISTS: {
    status: 409,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'This version was published with other bytes; a published version never changes.',
  },
  VERSION_CHANGED: {
    status: 409,
    origin: 'registry',
    next: 'reload',
    meaning: 'The expected version can no longer be served; read the skill again and retry once.',
  },
  NAME_TOO_SIMILAR: {
    status: 409,
    origin: 'registry',
    next: 'ask_human',
    meaning: 'The new name differs from an existing one only by a look-alike letter.',
  },
  ROLLOUT_ACTIVE: { status: 409, origin: 'registry', next: 'ask_human', meaning: 'The line has an active rollout; end it first.' },
  ILLEGAL_TRANSITION: {
    status: 409,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The version, rollout or agent is in a state from which this step is not possible; the hint names those that are.',
  },
  NO_UNITS: {
    status: 409,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The percentage would select no agent at all; the message has the arithmetic.',
  },
  CANARY_UNREACHABLE: {
    status: 409,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The candidate is a pre-release, which no range selects, so its canary would reach nobody.',
  },
  CALL_IN_FLIGHT: {
    status: 409,
    origin: 'registry',
    next: 'retry',
    meaning: 'The call that has this Idempotency-Key is still under way; the same request later gets its answer.',
  },
  OUTCOME_UNKNOWN: {
    status: 409,
    origin: 'registry',
    next: 'ask_human',
    meaning: 'The call that had this Idempotency-Key may have had its effect, and nobody knows; it is never run again by itself.',
  },
  NOT_REPLAYABLE: {
    status: 409,
    origin: 'registry',
    next: 'give_up',
    meaning: 'What the call was given is not kept whole: it was cut, redacted, or is past its days.',
  },
  VERSION_WITHDRAWN: { status: 410, origin: 'registry', next: 'reload', meaning: 'The version was blocked; nobody gets it.' },
  EXPIRED: { status: 410, origin: 'registry', next: 'give_up', meaning: 'What was asked for was kept for a day, and is gone.' },
  REVISION_MISMATCH: {
    status: 412,
    origin: 'registry',
    next: 'reload',
    meaning: 'The skill changed since the caller read it; the message says who changed what.',
  },
  TOO_LARGE: { status: 413, origin: 'registry', next: 'fix_input', meaning: 'The body is larger than this route takes.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The body is of a media type this route does not take.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The Idempotency-Key was used for another request of this agent and skill.',
  },
  INVALID_MANIFEST: {
    status: 422,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The skill cannot be published as it is; every problem is listed with file, line and fix.',
  },
  INCOMPATIBLE_SCHEMA: {
    status: 422,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The schemas changed more than the version number says.',
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    origin: 'registry',
    next: 'fix_input',
    meaning: 'The command needs If-Match: the ETag of what the caller read, or * for whatever is there.',
  },
  RATE_LIMITED: {
    status: 429,
    origin: 'registry',
    next: 'retry',
    meaning: 'Too many requests of one agent, or too many failed ones from one address; Retry-After says when to come back.',
  },
  QUOTA_EXCEEDED: {
    status: 429,
    origin: 'registry',
    next: 'retry',
    meaning: 'The calls that a quota allows in this minute or on this day are used up; Retry-After says when there are new ones.',
  },
  HEADERS_TOO_LARGE: { status: 431, origin: 'registry', next: 'fix_input', meaning: 'The request headers are larger than 16 KiB.' },
  INTERNAL: { status: 500, origin: 'registry', next: 'retry', meaning: 'A fault of the registry; the request id finds it in the log.' },
  EXECUTOR_FAILED: {
    status: 502,
    origin: 'upstream',
    next: 'ask_human',
    meaning: 'What carries the skill out broke; details name the reason.',
  },
  EXECUTOR_UNREACHABLE: { status: 502, origin: 'upstream', next: 'retry', meaning: 'What carries the skill out could not be reached.' },
  OUTPUT_SCHEMA_MISMATCH: {
    status: 502,
    origin: 'upstream',
    next: 'ask_human',
    meaning: 'The answer does not satisfy the output schema that the version declares.',
  },
  BUSY: { status: 503, origin: 'registry', next: 'retry', meaning: 'Too much is under way; try again shortly.' },
  UNAVAILABLE: { status: 503, origin: 'registry', next: 'retry', meaning: 'The database is away, or the registry is stopping.' },
  LOG_UNAVAILABLE: {
    status: 503,
    origin: 'registry',
    next: 'retry',
    meaning: 'The call log cannot take a row, so the call is not acknowledged.',
  },
  SNAPSHOT_STALE: {
    status: 503,
    origin: 'registry',
    next: 'retry',
    meaning: 'The database has been away for so long that what this replica knows cannot be relied on.',
  },
  CAGE_MISSING: {
    status: 503,
    origin: 'registry',
    next: 'ask_human',
    meaning: 'The skill brings code that may not run without a sandbox, and none is there.',
  },
  TIMEOUT: { status: 504, origin: 'upstream', next: 'retry', meaning: 'The skill did not answer before its deadline and was ended.' },
} as const satisfies Record<string, CatalogueEntry>

/** A code of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue
