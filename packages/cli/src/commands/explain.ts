import type { AccessExplained } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { readSkillReference } from '../skill-reference.ts'
import { layoutTable } from '../table.ts'

/** Adds `repertoire explain`. */
export function addExplain(program: Command): void {
  program
    .command('explain')
    .summary('say whether an agent may call a skill, and which grant or denial decides')
    .description('Says whether an agent may call a skill, and for each tag the skill needs which grant or denial decides, by whom and why.')
    .argument('<agent>', 'the agent')
    .argument('<skill>', 'the skill, with a range if one matters: name or name@range')
    .addHelpText('after', examples('repertoire explain support-bot send-email', 'repertoire explain report-bot query-order@^2 --json'))
    .action(
      withContext(async ({ print, registry }, [agent, reference]: [string, string]) => {
        const { name, range } = readSkillReference(reference)
        const { data } = await registry().transport.send<AccessExplained>('GET', apiPath`/v1/agents/${agent}/explain`, {
          query: { skill: name, range },
        })
        print.result(data, () => sayExplained(data, print.width))
      }),
    )
}

function sayExplained(data: AccessExplained, width: number | undefined): string {
  const named = `${data.skill}${data.version === null ? '' : ` ${data.version}`}`
  const head = `${data.agent} ${data.may_call ? 'may' : 'may not'} call ${named}${whyNot(data)}\n`
  const classes = sayClasses(data)
  if (data.tags.length === 0) return `${head}it needs no tag\n${classes}`
  return `${head}${layoutTable(
    {
      head: ['TAG', 'VERDICT', 'RULE', 'BY', 'UNTIL', 'REASON'],
      rows: data.tags.map(({ tag, allowed, high_risk: isRisky, rule }) => [
        isRisky ? `${tag} (high risk)` : tag,
        allowed ? 'allowed' : rule === null ? 'not granted' : 'denied',
        rule === null ? '' : `${rule.deny ? 'deny ' : ''}${rule.pattern}`,
        rule?.granted_by ?? '',
        rule?.expires_at ?? '',
        rule?.reason ?? '',
      ]),
    },
    width,
  )}${classes}`
}

const classNames = { private_data: 'private data', untrusted_content: 'untrusted content', way_out: 'a way out' }

function sayClasses({ agent, classes }: AccessExplained): string {
  if (classes.length === 0) return ''
  const named = classes.map(
    ({ tag_class: name, grants }) => `${classNames[name]} (${[...new Set(grants.map((grant) => grant.pattern))].join(', ')})`,
  )
  return `${agent} reaches ${named.join(', ')}${classes.length === 3 ? ': all at once' : ''}\n`
}

function whyNot({ disabled, problem, may_call: mayCall, private: isPrivate }: AccessExplained): string {
  if (mayCall) return ''
  const reasons = [
    disabled ? 'the agent is disabled' : undefined,
    problem ?? undefined,
    isPrivate ? 'to it the skill is absent' : undefined,
  ]
  const told = reasons.filter((reason) => reason !== undefined)
  return told.length === 0 ? '' : `: ${told.join('; ')}`
}
