import type { CallRow, Detail, Effects, ExecutorSpec, Finding, Role } from '@repertoire/contract'
import type {
  ConnectionRecord,
  CredentialRef,
  GrantRecord,
  Plan,
  SchemasToProve,
  SkillFacts,
  Snapshot,
  VersionRecord,
  VersionSchemas,
} from '@repertoire/core'
import type {
  AgentRow,
  AuditEvent,
  AuditPage,
  AuditQuery,
  AuditRow,
  AuditVerdict,
  CallCount,
  CallQuery,
  Completion,
  DeclaredRanges,
  GrantRow,
  IntentKind,
  KeyRow,
  LockedSkill,
  LogEntry,
  NewCallRow,
  NewKey,
  NewVersion,
  Page,
  Propagation,
  RequirementDeclared,
  RolloutQuery,
  Settlement,
  ShownEvent,
  StoredRollout,
  VersionState,
} from './stored.ts'

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
  readonly asyncCalls: AsyncCalls
  readonly shown: ShownLog
  readonly executors: Executors
  readonly retryBudget: (skill: string) => RetryBudget
  readonly clock: Clock
  readonly ids: Ids
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
  readonly transaction: <T>(work: (tx: Transaction) => Promise<T>, options?: { readonly isUrgent?: boolean }) => Promise<T>
  readonly file: (versionId: string, path: string) => Promise<Uint8Array | undefined>
  readonly filesOf: (versionId: string) => Promise<ReadonlyMap<string, Uint8Array>>
  readonly listAgents: (page: Page) => Promise<readonly AgentRow[]>
  readonly listKeys: (agentId: string) => Promise<readonly KeyRow[]>
  readonly listGrants: (agentId: string) => Promise<readonly GrantRow[]>
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
    readonly insert: (grant: Omit<GrantRow, 'createdAt'> & { readonly at: Date }) => Promise<void>
    readonly remove: (agentId: string, grantId: string, at: Date) => Promise<boolean>
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
  readonly find: (query: CallQuery) => Promise<readonly CallRow[]>
  /** One call, also one that is under way; waits for its end as long as it is told to. */
  readonly get: (callId: string, waitMs?: number) => Promise<CallRow | undefined>
  /** Notes what was found out about a call whose outcome is unknown; false when there is none. */
  readonly settle: (callId: string, settlement: Settlement) => Promise<boolean>
  /** How often each agent called a skill since a time, by range and version, the most frequent first. */
  readonly countBy: (skill: string, since: Date) => Promise<readonly CallCount[]>
  /** The last call an agent made of a skill, not after a time. */
  readonly lastOf: (question: { readonly skill: string; readonly agentId: string; readonly at: Date }) => Promise<CallRow | undefined>
  /** Whether the last rows could not be written, a moment ago: then nothing is carried out that could not be logged. */
  readonly isDown: () => boolean
}

/** What is shown to agents, compactly and without a promise. */
export type ShownLog = { readonly note: (event: ShownEvent) => void; readonly dropped: () => number }

/** What carries calls out, by kind. */
export type Executors = Readonly<Record<ExecutorSpec['kind'], Executor>>

/** Carries one call out before its deadline. */
export type Executor = { readonly execute: (execution: Execution) => Promise<ExecutorResult> }

/** One attempt at a call. */
export type Execution = {
  readonly callId: string
  readonly version: VersionRecord
  readonly connection: ConnectionRecord | undefined
  readonly arguments: Record<string, unknown>
  readonly timeoutMs: number
  readonly maxResultBytes: number
  readonly traceparent: string | null
  /** Aborted when nobody wants the call any more: what runs is ended, not left behind. Null where that cannot happen. */
  readonly signal: AbortSignal | null
  /** Hears how long the attempt waited for its turn, in milliseconds. */
  readonly onQueued: (ms: number) => void
}

/** How an attempt ended. `json` is what came back, byte for byte. */
export type ExecutorResult =
  | { readonly kind: 'result'; readonly json: Uint8Array }
  | {
      readonly kind: 'skill_error'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly details: readonly Detail[]
      /** What the skill may have done before it said no; unknown where nobody watched. */
      readonly effect: 'none' | 'possible' | 'unknown'
    }
  | {
      readonly kind: 'failed'
      readonly code: 'EXECUTOR_FAILED' | 'EXECUTOR_UNREACHABLE' | 'TIMEOUT' | 'BUSY' | 'CAGE_MISSING' | 'INVALID_INPUT'
      readonly reason: string
      readonly message: string
      readonly details: readonly Detail[]
      /** Whether the same may go well a moment later: the upstream said so by its status. */
      readonly isTransient?: boolean
    }

/** How much a skill may still be tried again. */
export type RetryBudget = {
  /** Notes a call, which earns a part of a retry. */
  readonly earn: () => void
  /** Takes a retry; false when there is none. */
  readonly spend: () => boolean
}

/** Idempotency keys: who runs, who waits, who gets the first answer. Needs the database; refuses with UNAVAILABLE without it. */
export type Claims = {
  /** What a key is known for; undefined when it is new. */
  readonly look: (key: ClaimKey) => Promise<KnownClaim | undefined>
  /** Takes a key for a call, unless somebody else has it. */
  readonly claim: (claim: NewClaim) => Promise<KnownClaim | 'mine'>
  /** Gives a key back whose call has done nothing, so that the same key may try again. */
  readonly release: (key: ClaimKey, callId: string) => Promise<void>
}

/** Whose key, for which skill. */
export type ClaimKey = { readonly agentId: string; readonly skillKey: string; readonly keyHash: string }

/** A key about to be taken, and for how long until somebody else may ask what became of it. */
export type NewClaim = ClaimKey & {
  readonly requestHash: string
  readonly callId: string
  readonly effects: Effects
  readonly version: string
  readonly leaseMs: number
}

/** What became of the call that took a key. */
export type KnownClaim = {
  readonly kind: 'answered' | 'in_flight' | 'unknown' | 'abandoned'
  readonly callId: string
  readonly requestHash: string
  readonly version: string
  /** The first answer, sealed; null when there is none. */
  readonly answer: Uint8Array | null
  /** Whether it was found out later that it had happened. */
  readonly hasHappened: boolean
}

/** Whole results that must come back later: sealed, in pieces, for a day. */
export type Results = {
  readonly keep: (result: {
    readonly callId: string
    readonly agentId: string
    readonly pieces: readonly Uint8Array[]
    readonly totalBytes: number
  }) => Promise<void>
  /** One piece of a result of an agent, and how large the whole is. */
  readonly piece: (
    agentId: string,
    callId: string,
    number: number,
  ) => Promise<{ readonly bytes: Uint8Array; readonly totalBytes: number; readonly pieces: number } | undefined>
}

/** A place of a skill that is carried out only so often at once, over all replicas. */
export type Lease = {
  readonly release: () => Promise<void>
  /** Aborted when the place could not be kept: somebody else may have it soon. */
  readonly lost: AbortSignal
}

/** Places of skills with a limit on calls at once. */
export type Leases = {
  /** Undefined when there was none before the time was over. A call below one that holds a place of the same skill gets none at once. */
  readonly acquire: (wanted: {
    readonly skillKey: string
    readonly slots: number
    readonly callId: string
    readonly parentCallId: string | null
    readonly waitMs: number
  }) => Promise<Lease | undefined>
}

/** Calls that nobody waits for. */
export type AsyncCalls = {
  /** Tells every replica of a call before it is answered with 202. */
  readonly announce: (row: NewCallRow, completes?: Completion) => Promise<void>
  /** Asks whoever carries a call out to end it; false when it is not under way. */
  readonly cancel: (callId: string) => Promise<boolean>
  /** Says that a call runs here, and hears when it is to end. */
  readonly run: (callId: string, work: (signal: AbortSignal) => Promise<unknown>) => void
  readonly running: () => number
}
