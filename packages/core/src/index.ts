export { absent, admit, admitTo, contextOf, denied, rangesFor, tryAdmit } from './admit.ts'
export type { Admission, Asking } from './admit.ts'
export { bucketOf } from './bucket.ts'
export { authorize, hasRole, owns, requireRole, seesEverything, systemCaller } from './caller.ts'
export type { Authorization, Caller } from './caller.ts'
export { checkCompatibility, declaredPaths } from './compatibility.ts'
export type { VersionSchemas } from './compatibility.ts'
export { honourExpected } from './expect-version.ts'
export { readCursor, writeCursor } from './cursor.ts'
export { groupBy } from './group-by.ts'
export { canonicalJson, digestOf } from './json/canonical.ts'
export { scanJson } from './json/scan.ts'
export type { JsonProblem } from './json/scan.ts'
export { isWellFormedKey, keyKind, writeKey } from './key-format.ts'
export { bundleDigest } from './manifest/bundle.ts'
export type { Bundle, BundleDefaults, BundleFiles } from './manifest/bundle.ts'
export { checkBundle } from './manifest/check-bundle.ts'
export type { BundleCheck, CheckedBundle } from './manifest/check-bundle.ts'
export { readFrontMatter } from './manifest/front-matter.ts'
export { isPartOfSkill } from './manifest/part-of-skill.ts'
export { findUnsafeCharacter } from './manifest/text-safety.ts'
export { mayPin } from './may-pin.ts'
export { isSkillName, lookAlikeKey, nameKey, nearestName } from './names.ts'
export { isHighRisk, normaliseTag, permit } from './permit.ts'
export type { Permit } from './permit.ts'
export { parseRange, rememberedRanges } from './range.ts'
export type { ParsedRange } from './range.ts'
export type {
  AgentRecord,
  ConnectionRecord,
  CredentialRef,
  ExecutorKind,
  GrantRecord,
  KeyRecord,
  RolloutRecord,
  RolloutState,
  SkillRecord,
  Snapshot,
  UnitKind,
  VersionRecord,
} from './records.ts'
export { Refusal } from './refusal.ts'
export { isServedByRange, resolve, tryResolve } from './resolve.ts'
export type { Coin, ResolveContext, Resolved } from './resolve.ts'
export { checkSchema } from './schemas/check-schema.ts'
export { compileSchema } from './schemas/compile.ts'
export type { Validator } from './schemas/compile.ts'
export { validatorFor } from './schemas/validator-for.ts'
export { explainViolations } from './schemas/explain.ts'
export { proveSchemas } from './schemas/prove-schemas.ts'
export type { SchemasToProve } from './schemas/prove-schemas.ts'
export { applyChanges, emptySnapshot } from './snapshot.ts'
export type { Changes, LineRow, RequirementRow, SkillRow } from './snapshot.ts'
export { lineOf, parseExact, readVersion } from './version.ts'
