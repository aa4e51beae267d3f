export { absent, admit, admitTo, contextOf, denied, isKnownTo, isUnconfirmed, rangesFor, tryAdmit } from './admit.ts'
export type { Admission, Asking } from './admit.ts'
export { bucketOf } from './bucket.ts'
export { authorize, hasRole, mayReadRow, narrowTo, owns, requireRole, seesEverything, systemCaller } from './caller.ts'
export type { Authorization, Caller, OnBehalfOf } from './caller.ts'
export { checkCompatibility, declaredPaths } from './compatibility.ts'
export type { VersionSchemas } from './compatibility.ts'
export { honourExpected } from './expect-version.ts'
export { readCursor, writeCursor } from './cursor.ts'
export { groupBy } from './group-by.ts'
export { durationBucket, histogramBuckets, percentile, readHistogram, writeHistogram } from './histogram.ts'
export type { Histogram } from './histogram.ts'
export { canonicalJson, digestOf } from './json/canonical.ts'
export { createItemReader, createLineReader } from './json/part-readers.ts'
export type { PartReader } from './json/part-readers.ts'
export { scanJson } from './json/scan.ts'
export type { JsonProblem } from './json/scan.ts'
export { isWellFormedKey, keyKind, writeKey } from './key-format.ts'
export { bundleDigest } from './manifest/bundle.ts'
export type { Bundle, BundleDefaults, BundleFiles } from './manifest/bundle.ts'
export { nextMoveAt, planAdvance } from './lifecycle/advance.ts'
export { planCancel, planPause, planResume, planSetPercent } from './lifecycle/change-rollout.ts'
export { planBlock, planDeprecate, planRelease, planUnyank, planYank } from './lifecycle/change-version.ts'
export type { Farewell } from './lifecycle/change-version.ts'
export { changesAnything, factsOf, isActive, nothingToDo } from './lifecycle/facts.ts'
export type { Order, Plan, SkillFacts, StatusChange, VersionFacts } from './lifecycle/facts.ts'
export { legalCommands } from './lifecycle/legal.ts'
export type { RolloutCommand, VersionCommand } from './lifecycle/legal.ts'
export { applyPlan, callerOfAgent, contextOfAgent, previewImpact } from './lifecycle/preview.ts'
export type { Affected, Impact, Requester } from './lifecycle/preview.ts'
export { planPromote } from './lifecycle/promote.ts'
export { planRevert } from './lifecycle/revert.ts'
export { planRollback } from './lifecycle/roll-back.ts'
export { countUnits, requireUnits } from './lifecycle/selected-units.ts'
export type { Selection } from './lifecycle/selected-units.ts'
export { skillAfter } from './lifecycle/skill-at.ts'
export { planStart } from './lifecycle/start-rollout.ts'
export type { RolloutRequest } from './lifecycle/start-rollout.ts'
export { checkBundle } from './manifest/check-bundle.ts'
export type { BundleCheck, CheckedBundle } from './manifest/check-bundle.ts'
export { readFrontMatter } from './manifest/front-matter.ts'
export { isPartOfSkill } from './manifest/part-of-skill.ts'
export { findUnsafeCharacter } from './manifest/text-safety.ts'
export { mayPin } from './may-pin.ts'
export { isSkillName, lookAlikeKey, nameKey, nearestName } from './names.ts'
export { isHighRisk, normaliseTag, permit, ruleFor } from './permit.ts'
export type { Permit } from './permit.ts'
export { joinRanges, parseRange, rememberedRanges, splitRanges } from './range.ts'
export type { ParsedRange } from './range.ts'
export type {
  AgentRecord,
  ConnectionRecord,
  CredentialRef,
  ExecutorKind,
  GrantRecord,
  Index,
  KeyRecord,
  PausedReason,
  RolloutRecord,
  RolloutState,
  RolloutStep,
  SkillRecord,
  Snapshot,
  UnitKind,
  VersionRecord,
} from './records.ts'
export { Refusal } from './refusal.ts'
export { isServedByRange, matchRanges } from './match-ranges.ts'
export { resolve, tryResolve } from './resolve.ts'
export type { Coin, ResolveContext, Resolved } from './resolve.ts'
export { checkSchema } from './schemas/check-schema.ts'
export { compileSchema } from './schemas/compile.ts'
export type { Validator } from './schemas/compile.ts'
export { validatorFor } from './schemas/validator-for.ts'
export { explainViolations } from './schemas/explain.ts'
export { proveSchemas } from './schemas/prove-schemas.ts'
export type { SchemasToProve } from './schemas/prove-schemas.ts'
export { applyChanges, assembleSkill, emptySnapshot } from './snapshot.ts'
export type { Changes, LineRow, RequirementRow, SkillRow } from './snapshot.ts'
export { open, seal } from './seal.ts'
export { completedClasses, reachedClasses, refuseClasses, warnOfClasses } from './tag-classes.ts'
export { lineOf, parseExact, readVersion } from './version.ts'
