export { Repertoire } from './repertoire.ts'
export type { CallOptions, CallResult, ListOptions, RepertoireOptions } from './repertoire.ts'
export { RepertoireError } from './repertoire-error.ts'
export type { Answer, RequestOptions, Transport } from './transport.ts'
export type {
  Agent,
  CallList,
  CallRow,
  Connection,
  CreatedKey,
  Declared,
  Detail,
  Envelope,
  EnvelopeError,
  ErrorCode,
  Finding,
  Grant,
  Key,
  ListCallsQuery,
  Meta,
  Published,
  PublishBody,
  Released,
  ResolvedSet,
  Self,
  SkillDetail,
  SkillList,
  SkillListItem,
  VersionList,
  Warning,
} from '@repertoire/contract/sdk'
