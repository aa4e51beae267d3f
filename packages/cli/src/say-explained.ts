import type { AccessExplained } from '@repertoire/sdk'
import { layoutTable } from './table.ts'

/** Says an explanation to a person: the verdict, and for each tag whose grant or denial decides. */
export function sayExplained(data: AccessExplained, width: number | undefined): string {
  const named = `${data.skill}${data.version === null ? '' : ` ${data.version}`}`
  const who = data.on_behalf_of === null ? data.agent : `${data.agent}, asking for ${data.on_behalf_of},`
  const head = `${who} ${data.may_call ? 'may' : 'may not'} call ${named}${whyNot(data)}\n`
  const classes = sayClasses(data)
  if (data.tags.length === 0) return `${head}it needs no tag\n${classes}`
  const table = {
    head: ['TAG', 'VERDICT', 'RULE', 'BY', 'UNTIL', 'REASON'],
    rows: data.tags.map((explained) => {
      const { tag, high_risk: isRisky, judged, user_rule: users } = explained
      const rule = judged === 'user' ? users : explained.rule
      return [
        isRisky ? `${tag} (high risk)` : tag,
        verdictOf(data, explained),
        rule === null ? '' : `${rule.deny ? 'deny ' : ''}${rule.pattern}`,
        rule?.granted_by ?? '',
        rule?.expires_at ?? '',
        rule?.reason ?? '',
      ]
    }),
  }
  return `${head}${layoutTable(table, width)}${classes}`
}

function verdictOf({ agent, on_behalf_of: user }: AccessExplained, tag: AccessExplained['tags'][number]): string {
  if (tag.allowed) return 'allowed'
  const verdict = (tag.judged === 'user' ? tag.user_rule : tag.rule) === null ? 'not granted' : 'denied'
  return user === null ? verdict : `${verdict} to ${tag.judged === 'user' ? user : agent}`
}

const classNames = { private_data: 'private data', untrusted_content: 'untrusted content', way_out: 'a way out' }

function sayClasses({ agent, classes }: AccessExplained): string {
  if (classes.length === 0) return ''
  const named = classes.map(
    ({ tag_class: name, grants }) => `${classNames[name]} (${[...new Set(grants.map((grant) => grant.pattern))].join(', ')})`,
  )
  return `${agent} reaches ${named.join(', ')}${classes.length === 3 ? ': all at once' : ''}\n`
}

function whyNot({ disabled, problem, may_call: mayCall, private: isPrivate, on_behalf_of: user }: AccessExplained): string {
  if (mayCall) return ''
  const reasons = [
    disabled ? `the agent${user === null ? '' : ' or the user'} is disabled` : undefined,
    problem ?? undefined,
    isPrivate ? 'to it the skill is absent' : undefined,
  ]
  const told = reasons.filter((reason) => reason !== undefined)
  return told.length === 0 ? '' : `: ${told.join('; ')}`
}
