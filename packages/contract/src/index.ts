export {
  Agent,
  AgentList,
  Connection,
  ConnectionList,
  CreateAgentBody,
  CreateConnectionBody,
  CreateGrantBody,
  CreateKeyBody,
  CreatedKey,
  Grant,
  GrantList,
  Key,
  KeyList,
  PageQuery,
  PatchAgentBody,
  Removed,
  Role,
  RotatedKey,
  RotateKeyBody,
  Self,
} from './access.ts'
export { AuditEntry, AuditList, AuditVerified, ListAuditQuery } from './audit.ts'
export {
  CallBody,
  CallList,
  CallRow,
  CancelBody,
  Cancelled,
  DryRun,
  ExportQuery,
  Feedback,
  FeedbackBody,
  GetCallQuery,
  ListCallsQuery,
  ReplayBody,
  ResultPart,
  ResultQuery,
  SettleBody,
  TailQuery,
} from './calls.ts'
export { endpoints } from './endpoints.ts'
export type { Endpoint, EndpointAccess } from './endpoint.ts'
export type { EndpointName } from './endpoints.ts'
export type { Detail, Envelope, EnvelopeError, Meta, Outcome, Via, Warning } from './envelope.ts'
export { errorCatalogue } from './errors.ts'
export type { CatalogueEntry, ErrorCode, ErrorEffect, ErrorNext, ErrorOrigin } from './errors.ts'
export { AccessExplained, ExplainQuery, TagExplained } from './explain.ts'
export { limits } from './limits.ts'
export { Effects, Example, ExecutorSpec, Manifest, PermissionTag, SkillErrorSpec } from './manifest.ts'
export { maxSkillNameLength, skillNamePattern } from './names.ts'
export { CreateQuotaBody, Quota, QuotaList, QuotaUse } from './quotas.ts'
export { CodeBundle, CodeLanguage, RunFailureReason, RunRequest, RunResult } from './runner.ts'
export { RedactFile, Redaction } from './redaction.ts'
export {
  Affected,
  CommandQuery,
  Dependent,
  Dependents,
  DependentsQuery,
  DeprecateBody,
  DryRunReport,
  Duration,
  LineChanged,
  ListRolloutsQuery,
  Percent,
  PromoteBody,
  ResolutionAt,
  ResolutionAtQuery,
  RevertBody,
  Rollout,
  RolloutChanged,
  RolloutList,
  RolloutState,
  RolloutStep,
  SetPercentBody,
  StartRolloutBody,
  UnitKind,
  WithdrawBody,
} from './rollouts.ts'
export { TagClass, TagClasses } from './tag-classes.ts'
export { settings } from './settings.ts'
export type { Setting, SettingName } from './settings.ts'
export {
  BundleFile,
  DeclareBody,
  Declared,
  DescribeSkillQuery,
  Finding,
  ListSkillsQuery,
  ListView,
  Published,
  PublishBody,
  PublishQuery,
  ReasonBody,
  Requires,
  ResolveBody,
  ResolvedSet,
  Resolution,
  SkillDetail,
  SkillFile,
  SkillList,
  SkillListItem,
  TransferBody,
  Transferred,
  VersionList,
  VersionListItem,
  VersionStatus,
} from './skills.ts'
export {
  AttemptStats,
  CallStats,
  CallStatsItem,
  CallStatsQuery,
  CompareQuery,
  Comparison,
  DenialStats,
  ErrorStats,
  FeedbackStats,
  RefusalDimension,
  RefusalStats,
  RefusalStatsQuery,
  SearchStats,
  ShownStatsQuery,
  StatsDimension,
  StatsInterval,
  StatsListQuery,
  UnusedStats,
  ViolationStats,
} from './stats.ts'
