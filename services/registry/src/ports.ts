import type { CallRow, Feedback, Finding, Role, TagClasses } from '@repertoire/contract'
import type {
  CredentialRef,
  GrantRecord,
  Plan,
  RedactionPolicy,
  SchemasToProve,
  SkillFacts,
  Snapshot,
  VersionSchemas,
} from '@repertoire/core'
import type { AsyncCalls, Claims, Executors, Leases, Quotas, Results, RetryBudget, Unknowns } from './call-ports.ts'
import type { Counts, Refusals } from './counted.ts'
import type { Places } from './places.ts'
import type { Tail } from './tail.ts'
import type {
  AgentRow,
  AuditEvent,
  AuditPage,
  AuditQuery,
  AuditRow,
  AuditVerdict,
  CallCount,
  CallPage,
  CallQuery,
  DeclaredRanges,
  GrantRow,
  IntentKind,
  KeyRow,
  LockedSkill,
  LogEntry,
  NewCallRow,
  NewFeedback,
  NewKey,
  NewVersion,
  Page,
  Propagation,
  QuotaRow,
  RequirementDeclared,
  RolloutQuery,
  Settlement,
  ShownEvent,
  StoredRollout,
  VersionState,
} from './stored.ts'

export type {
  AsyncCalls,
  ClaimKey,
  Claims,
  Execution,
  Executor,
  ExecutorResult,
  Executors,
  KnownClaim,
  Lease,
  Leases,
  NewClaim,
  QuotaExceeded,
  Quotas,
  Results,
  RetryBudget,
  Unknowns,
} from './call-ports.ts'

/** Everything the service asks of the world. Verbs get it as their first argument. */
export type Deps = {
  readonly settings: ServiceSettings
  /** The catalogue this replica holds right now; take it once a request. */
  readonly snapshot: () => Snapshot
  /** Milliseconds since the database last confirmed that this is the newest. */
  readonly unconfirmedMs: () => number
  readonly replicas: Replicas
  readonly keyUses: KeyUses
  readonly store: Store
  readonly calls: CallLog
  readonly claims: Claims
  readonly results: Results
  readonly leases: Leases
  readonly refusals: Refusals
  readonly quotas: Quotas
  readonly asyncCalls: AsyncCalls
  readonly unknowns: Unknowns
  readonly counts: Counts
  readonly tail: Tail
  readonly tailPlaces: Places
  readonly exportPlaces: Places
  readonly shown: ShownLog
  readonly executors: Executors
  readonly retryBudget: (skill: string) => RetryBudget
  readonly clock: Clock
  readonly ids: Ids
  /** What is taken out of everything that is logged. */
  readonly redaction: RedactionPolicy
  readonly proveSchemas: (schemas: SchemasToProve) => Promise<readonly Finding[]>
}

/** The settings that verbs decide by. */
export type ServiceSettings = {
  readonly replica: string
  readonly allowUnsandboxed: boolean
  readonly installSecret: Uint8Array
  /** Requests a second of one agent. */
  readonly agentRate: number
  /** How long this replica answers from a catalogue that nobody confirms. */
  readonly staleLimitMs: number
  /** Which tags open private data, untrusted content or a way out. */
  readonly tagClasses: TagClasses
}

/** The time, so that tests can choose it. */
export type Clock = { readonly now: () => Date }

/** New identifiers: UUIDv7, growing within a replica, and random bytes for secrets. */
export type Ids = { readonly next: () => string; readonly random: (bytes: number) => Uint8Array }

/** What is kept in Postgres beside the call log. */
export type Store = {
  /**
   * Runs one transaction; the snapshot holds its changes when this answers. What takes something away from somebody is
   * urgent, and has connections of its own, so that a busy registry can always step back.
   */
  readonly transaction: <T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions) => Promise<T>
  readonly file: (versionId: string, path: string) => Promise<Uint8Array | undefined>
  readonly filesOf: (versionId: string) => Promise<ReadonlyMap<string, Uint8Array>>
  readonly listAgents: (page: Page) => Promise<readonly AgentRow[]>
  readonly listKeys: (agentId: string) => Promise<readonly KeyRow[]>
  readonly listGrants: (agentId: string) => Promise<readonly GrantRow[]>
  /** A page of the limits on calls, by id. */
  readonly listQuotas: (page: Page) => Promise<readonly QuotaRow[]>
  readonly rollout: (id: string, options?: { readonly isUrgent?: boolean }) => Promise<StoredRollout | undefined>
  /** The salt of the newest rollout of a version. */
  readonly saltOf: (skillId: string, version: string) => Promise<string | undefined>
  readonly listRollouts: (query: RolloutQuery) => Promise<readonly StoredRollout[]>
  readonly requirementsOf: (skillKey: string, since: Date) => Promise<readonly RequirementDeclared[]>
  /** The audit events about a skill up to a time, oldest first. */
  readonly eventsOf: (skill: string, upTo: Date) => Promise<readonly AuditRow[]>
  readonly listAudit: (query: AuditQuery) => Promise<readonly AuditPage[]>
  /** Whether the audit log is as it was written. */
  readonly verifyAudit: () => Promise<AuditVerdict>
  /** What an agent held at a time. */
  readonly grantsAt: (agentId: string, at: Date) => Promise<readonly GrantRecord[]>
  /** The ranges every instance of an agent had declared at a time, by instance and skill. */
  readonly declaredAt: (agentId: string, at: Date) => Promise<ReadonlyMap<string, Readonly<Record<string, string>>>>
}

/** How a transaction is let in: by connections that are kept for it, and behind others that change the same thing. */
export type TransactionOptions = {
  readonly isUrgent?: boolean
  readonly line?: string
  /** How long its turn in the line may take to come, in milliseconds; a second unless told. */
  readonly lineMs?: number
  /** How long it may take itself; a second and a half unless told. */
  readonly deadlineMs?: number
}

/** When keys were last used, to the minute. */
export type KeyUses = { readonly note: (keyId: string) => void }

/** The other processes that serve this catalogue. */
export type Replicas = {
  /** Who obeys a revision, asked again until all do or the time is over. */
  readonly obeying: (revision: number, waitMs: number) => Promise<Propagation>
}

/** One transaction. Whoever writes a catalogue row asks for its revision first; lock order is skill, revision, audit. */
export type Transaction = {
  readonly revision: () => Promise<number>
  readonly skills: {
    /** Takes the one writer's place for a skill, whether or not it exists. */
    readonly lock: (key: string) => Promise<LockedSkill | undefined>
    readonly setTeam: (id: string, team: string | null) => Promise<void>
    readonly lookAlikes: (lookAlikeKey: string) => Promise<readonly string[]>
    readonly insert: (skill: {
      readonly id: string
      readonly name: string
      readonly team: string | null
      readonly at: Date
    }) => Promise<void>
  }
  readonly versions: {
    readonly find: (skillId: string, version: string) => Promise<VersionState | undefined>
    readonly schemasOf: (skillId: string) => Promise<readonly VersionSchemas[]>
    readonly insert: (version: NewVersion) => Promise<void>
    /** Says that the operator's own folder holds this version, so that its code may run. */
    readonly adopt: (id: string) => Promise<void>
  }
  /** What commands decide by, and how what they decided is written; the skill must be locked. */
  readonly lifecycle: {
    readonly facts: (skill: LockedSkill) => Promise<SkillFacts>
    readonly apply: (skill: LockedSkill, plan: Plan) => Promise<void>
  }
  readonly rollouts: {
    readonly find: (id: string) => Promise<StoredRollout | undefined>
  }
  readonly agents: {
    readonly lock: (id: string) => Promise<AgentRow | undefined>
    readonly insert: (agent: Omit<AgentRow, 'createdAt'> & { readonly at: Date; readonly by: string }) => Promise<boolean>
    readonly update: (agent: AgentRow) => Promise<void>
    readonly anyKeyOfRole: (role: Role) => Promise<boolean>
  }
  readonly keys: {
    readonly insert: (key: NewKey) => Promise<void>
    readonly revoke: (agentId: string, keyId: string, at: Date) => Promise<boolean>
    readonly find: (agentId: string, keyId: string) => Promise<KeyRow | undefined>
    /** Says which key takes the place of another, and when the other ends. */
    readonly rotate: (change: { readonly keyId: string; readonly to: string; readonly expiresAt: Date }) => Promise<void>
  }
  readonly grants: {
    /** What an agent holds and is denied now; the agent should be locked. */
    readonly of: (agentId: string) => Promise<readonly GrantRecord[]>
    readonly insert: (grant: Omit<GrantRow, 'createdAt'> & { readonly at: Date }) => Promise<void>
    /** Takes one back, and answers with it; undefined when there was none. */
    readonly remove: (agentId: string, grantId: string, at: Date) => Promise<GrantRecord | undefined>
  }
  readonly requirements: { readonly replace: (declared: DeclaredRanges) => Promise<void> }
  readonly connections: {
    readonly insert: (connection: {
      readonly name: string
      readonly baseUrl: string
      readonly headers: Record<string, CredentialRef>
      readonly at: Date
      readonly by: string
    }) => Promise<boolean>
    readonly remove: (name: string, at: Date) => Promise<boolean>
  }
  readonly quotas: {
    /** False when there is one about the same already. */
    readonly insert: (quota: Omit<QuotaRow, 'createdAt'> & { readonly at: Date }) => Promise<boolean>
    /** Takes one away, and answers with it; undefined when there was none. */
    readonly remove: (id: string, at: Date) => Promise<QuotaRow | undefined>
  }
  readonly audit: {
    readonly append: (event: AuditEvent) => Promise<void>
    /** The newest event about a skill after a revision. */
    readonly lastAbout: (skill: string, after: number) => Promise<AuditRow | undefined>
  }
}

/** The call log: an acknowledged row is durable. */
export type CallLog = {
  /** Answers once the entry is where a crash cannot take it; refuses with LOG_UNAVAILABLE. */
  readonly append: (entry: LogEntry) => Promise<void>
  /** Tells of a call before it runs, as durably: it gets its row whatever happens to this process. */
  readonly intend: (row: NewCallRow, kind: IntentKind) => Promise<void>
  /** Says that a call ended here without a row. */
  readonly abandon: (callId: string) => void
  readonly find: (query: CallQuery) => Promise<CallPage & { readonly lagMs: number }>
  /** One call, also one that is under way; waits for its end as long as it is told to. */
  readonly get: (callId: string, waitMs?: number) => Promise<CallRow | undefined>
  /** Notes what was found out about a call whose outcome is unknown; false when there is none. */
  readonly settle: (callId: string, settlement: Settlement) => Promise<boolean>
  /** How often each agent called a skill since a time, by range and version, the most frequent first. */
  readonly countBy: (skill: string, since: Date) => Promise<readonly CallCount[]>
  /** The last call an agent made of a skill, not after a time. */
  readonly lastOf: (question: { readonly skill: string; readonly agentId: string; readonly at: Date }) => Promise<CallRow | undefined>
  /** Notes what somebody says of a call; answers with all that was said of it. */
  readonly noteFeedback: (feedback: NewFeedback) => Promise<Feedback>
  /** Whether the last rows could not be written, a moment ago: then nothing is carried out that could not be logged. */
  readonly isDown: () => boolean
}

/** What is shown to agents, compactly and without a promise. */
export type ShownLog = { readonly note: (event: ShownEvent) => void; readonly dropped: () => number }
