import type { SkillDetail } from '@repertoire/sdk'
import { safeBlock, safeJson, safeLine } from './safe-text.ts'
import { count } from './say-count.ts'
import { layoutPairs, layoutTable } from './table.ts'

/** Says one skill to a person: what it is, then its files, examples and errors, then its instructions as they are. */
export function saySkill(skill: SkillDetail): string {
  const { resolution } = skill
  const facts = layoutPairs([
    ['skill', `${skill.name} ${skill.version} (${skill.status})`],
    ['why', `${resolution.via}, asked for ${resolution.requested_range}`],
    ['warnings', resolution.warnings.map((warning) => warning.message).join(' ')],
    ['description', skill.description],
    ['when to use', skill.when_to_use ?? undefined],
    ['when not', skill.when_not_to_use ?? undefined],
    ['input', skill.input ?? undefined],
    ['output', skill.output ?? undefined],
    ['kind', `${skill.kind}, effects ${skill.effects}, at most ${skill.timeout_ms} ms`],
    ['probe', skill.probe ?? undefined],
    ['executor', skill.executor === null || skill.executor.kind === 'code' ? undefined : safeJson(skill.executor, 0)],
    ['needs', skill.permission.length === 0 ? 'no permission tag' : skill.permission.join(', ')],
    ['private', skill.private ? 'yes: absent for whoever may not call it' : undefined],
    ['domain', skill.domain ?? undefined],
    ['tags', skill.tags.join(', ')],
    ['author', skill.author ?? undefined],
    ['unlocks', skill.unlocks.join(', ')],
    ['import added', Object.keys(skill.defaults).length === 0 ? undefined : safeJson(skill.defaults, 0)],
    ['extra', Object.keys(skill.extra).length === 0 ? undefined : safeJson(skill.extra, 0)],
    ['published', `${skill.published_at} by ${skill.published_by}`],
    ['digest', skill.digest],
    ['schemas', `${skill.schema_digest} (--schema prints them)`],
  ])
  return [facts, sayFiles(skill), sayExamples(skill), sayErrors(skill), `instructions\n\n${safeBlock(skill.instructions).trimEnd()}\n`]
    .filter((part) => part !== '')
    .join('\n')
}

function sayFiles({ files }: SkillDetail): string {
  return `${count(files.length, 'file')}\n${layoutTable({ head: ['PATH', 'BYTES', 'DIGEST'], rows: files.map((file) => [file.path, String(file.bytes), file.digest.slice(0, 19)]) }, undefined)}`
}

function sayExamples({ examples }: SkillDetail): string {
  if (examples.length === 0) return ''
  return `${count(examples.length, 'example')}\n${examples.map((example) => `  ${safeLine(example.say)}\n    ${safeJson(example.params, 0)}${example.result === undefined ? '' : ` → ${safeJson(example.result, 0)}`}\n`).join('')}`
}

function sayErrors({ errors }: SkillDetail): string {
  if (errors.length === 0) return ''
  return `errors of its own\n${errors.map((error) => `  ${safeLine(error.code)}${error.retryable ? ' (worth a retry)' : ''}  ${safeLine(error.when)}\n`).join('')}`
}
