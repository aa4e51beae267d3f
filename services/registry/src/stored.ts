import type { CallRow, FeedbackBody, ListCallsQuery, VersionStatus } from '@repertoire/contract'
import type { AgentRecord, Caller, CheckedBundle, GrantRecord, Plan, QuotaRecord, RolloutRecord } from '@repertoire/core'

/** Where a page starts, and how long it is. */
export type Page = { readonly after: string | undefined; readonly limit: number }

/** What a transaction needs to know of a version. */
export type VersionState = {
  readonly id: string
  readonly version: string
  readonly status: VersionStatus
  readonly digest: string
  readonly schemaDigest: string
  readonly line: string
  readonly source: 'folder' | 'api'
}

/** A version about to be stored. */
export type NewVersion = {
  readonly id: string
  readonly skillId: string
  readonly checked: CheckedBundle
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly source: 'folder' | 'api'
  readonly publishedBy: string
  readonly publisherTeam: string | null
  readonly at: Date
}

/** An agent as a row. */
export type AgentRow = Omit<AgentRecord, 'grants'> & { readonly createdAt: Date }

/** A key as a row, without its secret. */
export type KeyRow = {
  readonly id: string
  readonly agentId: string
  readonly kind: string
  readonly tail: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  readonly lastUsedAt: Date | null
  readonly rotatedTo: string | null
}

/** A key about to be stored. */
export type NewKey = {
  readonly id: string
  readonly agentId: string
  readonly kind: string
  readonly hash: string
  readonly tail: string
  readonly at: Date
  readonly by: string
  readonly expiresAt: Date | null
}

/** A grant as a row. */
export type GrantRow = Omit<GrantRecord, 'expiresAt'> & {
  readonly reason: string
  readonly grantedBy: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

/** A limit on calls as a row. */
export type QuotaRow = QuotaRecord & { readonly reason: string; readonly createdBy: string; readonly createdAt: Date }

/** All the ranges one instance of an agent declares. */
export type DeclaredRanges = {
  readonly agentId: string
  readonly instance: string
  readonly requires: ReadonlyMap<string, { readonly skill: string; readonly range: string }>
  readonly at: Date
}

/** One audit event. */
export type AuditEvent = {
  readonly caller: Caller
  readonly action: string
  readonly subject: string
  /** The skill it is about, by its name. */
  readonly skill?: string
  /** What changed of that skill. */
  readonly change?: Plan
  readonly reason?: string
  readonly before?: unknown
  readonly after?: unknown
  readonly at: Date
}

/** One list, search or load. */
export type ShownEvent = {
  readonly kind: 'list' | 'search' | 'load'
  readonly agentId: string
  readonly session: string | null
  readonly revision: number
  readonly query: string
  readonly items: readonly string[]
}

/** A row about to be logged; payloads are the exact bytes. */
export type NewCallRow = Omit<CallRow, 'input' | 'output' | 'ts' | 'payload_withheld' | 'state' | 'settled' | 'probed'> & {
  readonly ts: Date
  readonly input: Uint8Array | null
  readonly output: Uint8Array | null
  readonly idempotency_key_hash: string | null
}

/** The first answer to an Idempotency-Key, as it is kept: sealed, or null when it was too large. */
export type Completion = {
  readonly agentId: string
  readonly skillKey: string
  readonly keyHash: string
  readonly callId: string
  readonly answer: Uint8Array | null
}

/** Why a call is told to the log before it runs: it must not run twice, or nobody waits for it. */
export type IntentKind = 'once' | 'async'

/** What goes to the log: the row of a call that ended, with what is written together with it, or the intent of one that begins. */
export type LogEntry = {
  readonly row: NewCallRow
  /** There when it is an intent: nothing is known yet but that the call may happen. */
  readonly intent?: { readonly kind: IntentKind; readonly spool: string; readonly instance: string }
  /** Whether an intent of this call was told before. */
  readonly closesIntent?: boolean
  readonly completes?: Completion
  /** Its row as it is copied into the log, where that was written when it was acknowledged. */
  readonly ready?: ReadyRow
}

/** A row as it is copied into the log: its line of the narrow table, its payloads, and its message as a field beside them. */
export type ReadyRow = Pick<NewCallRow, 'input' | 'output'> & { readonly callId: string; readonly line: Buffer; readonly message: Buffer }

/** What was found out later about a call of which nobody knew how it ended. */
export type Settlement = NonNullable<CallRow['settled']>

/** What asking a probe has come to so far. */
export type Probed = NonNullable<CallRow['probed']>

/** A call of which nobody knows how it ended, and the how manieth time it is asked after now. */
export type DueUnknown = {
  readonly callId: string
  readonly tries: number
  /** What was called; undefined where its row is gone, or says by now what became of it. */
  readonly called: { readonly skill: string; readonly version: string } | undefined
}

/** What somebody says of a call. */
export type NewFeedback = FeedbackBody & {
  readonly call: Pick<CallRow, 'call_id' | 'agent_id' | 'skill' | 'version'>
  readonly by: string
  readonly at: Date
}

/** A window of the log, filters, and where to go on. */
export type CallQuery = Omit<ListCallsQuery, 'from' | 'to' | 'cursor'> & {
  readonly from: Date
  readonly to: Date
  /** The user that was asked for, where only the calls for one are wanted. */
  readonly onBehalfOf?: string | undefined
  /** The last row of the page before. */
  readonly beyond: string | undefined
  /** Newest first unless told. */
  readonly isOldestFirst?: boolean
}

/** Rows that were found, and the last one that was looked at, where the page ended before its window did. */
export type CallPage = { readonly rows: readonly CallRow[]; readonly lookedTo: string | undefined }

/** A skill whose one writer's place was taken. */
export type LockedSkill = { readonly id: string; readonly name: string; readonly team: string | null; readonly revision: number }

/** An audit event as it is read back. */
export type AuditRow = {
  readonly at: Date
  readonly caller: string
  readonly action: string
  readonly subject: string
  readonly reason: string | null
  readonly change: Plan | null
  readonly revision: number
}

/** A rollout together with the name of its skill. */
export type StoredRollout = {
  readonly rollout: RolloutRecord
  readonly skill: string
  /** The skill's revision, and that of everything, in the moment in which the rollout was read. */
  readonly skillRevision: number
  readonly revision: number
}

/** Which rollouts, and where the page starts. */
export type RolloutQuery = {
  readonly skill: string | undefined
  readonly states: readonly RolloutRecord['state'][] | undefined
  readonly before: string | undefined
  readonly limit: number
}

/** How often an agent called a skill with a range, and which version carried it out. */
export type CallCount = {
  readonly agentId: string
  readonly range: string | null
  readonly version: string | null
  readonly calls: number
  readonly lastAt: Date
}

/** A declared range as it is stored. */
export type RequirementDeclared = {
  readonly agentId: string
  readonly instance: string
  readonly range: string
  readonly declaredAt: Date
}

/** Which replicas obey a revision, which are alive and do not yet, and which were not heard of lately. */
export type Propagation = {
  readonly applied: readonly string[]
  readonly lagging: readonly string[]
  readonly unreachable: readonly string[]
}

/** A window of the audit log, filters, and where to go on. */
export type AuditQuery = {
  readonly from: Date
  readonly to: Date
  readonly caller: string | undefined
  readonly action: string | undefined
  readonly subject: string | undefined
  readonly skill: string | undefined
  readonly before: number | undefined
  readonly limit: number
}

/** One event of the audit log, whole. */
export type AuditPage = {
  readonly seq: number
  readonly at: Date
  readonly caller: string
  readonly role: string
  readonly keyId: string | null
  readonly action: string
  readonly subject: string
  readonly skill: string | null
  readonly change: Plan | null
  readonly reason: string | null
  readonly before: unknown
  readonly after: unknown
  readonly revision: number
  readonly previousHash: string | null
  readonly hash: string | null
}

/** Whether the chain of the audit log holds, and where it first does not. */
export type AuditVerdict = {
  readonly ok: boolean
  readonly rows: number
  /** Events that are older than the chain, or than the install secret. */
  readonly unverifiable: number
  readonly last_seq: number
  /** Whether the replica that was asked knows how far the log went; one that has appended and heard of nothing does not. */
  readonly tail_checked: boolean
  readonly first_bad: { readonly seq: number; readonly problem: string } | null
}
