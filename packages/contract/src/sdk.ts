export { errorCatalogue } from './errors.ts'
export type { CatalogueEntry, ErrorCode, ErrorEffect, ErrorNext, ErrorOrigin } from './errors.ts'
export type { Detail, Envelope, EnvelopeError, Meta, Outcome, Via, Warning } from './envelope.ts'
export { limits } from './limits.ts'
export { settings } from './settings.ts'
export type { Setting, SettingName } from './settings.ts'
export type { Agent, Connection, CreateAgentBody, CreateConnectionBody, CreatedKey, Grant, Key, Role, RotatedKey, Self } from './access.ts'
export type { AccessExplained } from './explain.ts'
export type { AuditEntry, AuditList, AuditVerified } from './audit.ts'
export type { CallBody, CallList, CallRow, ListCallsQuery } from './calls.ts'
export type { Quota, QuotaUse } from './quotas.ts'
export type {
  AttemptStats,
  CallStats,
  Comparison,
  DenialStats,
  ErrorStats,
  FeedbackStats,
  RefusalStats,
  SearchStats,
  UnusedStats,
  ViolationStats,
} from './stats.ts'
export type { Affected, Dependents, DryRunReport, LineChanged, ResolutionAt, Rollout, RolloutChanged } from './rollouts.ts'
export type {
  Declared,
  Finding,
  Published,
  PublishBody,
  ResolvedSet,
  SkillDetail,
  SkillList,
  SkillListItem,
  VersionList,
} from './skills.ts'
