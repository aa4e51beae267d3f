import type { Agent } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { readAllPages } from '../pages.ts'
import { collect } from '../read-option.ts'
import { layoutPairs, layoutTable } from '../table.ts'

type CreateOptions = {
  readonly name?: string
  readonly role: string
  readonly team?: string
  readonly tenant?: string
  readonly domain?: readonly string[]
}

/** Adds `repertoire agents`. */
export function addAgents(program: Command): void {
  const agents = program
    .command('agents')
    .summary('register agents, list and disable them')
    .description('Registers the agents that may ask this registry, lists them, and disables them.')
  agents
    .command('create')
    .description('Registers an agent; it holds nothing until something is granted to it.')
    .argument('<id>', 'lower case letters, digits, . _ -')
    .option('--name <name>', 'its name for people; the id unless given')
    .addOption(
      new Option('--role <role>', 'what it may manage').choices(['agent', 'publisher', 'operator', 'auditor', 'admin']).default('agent'),
    )
    .option('--team <team>', 'its team; a publisher manages the skills of its team')
    .option('--tenant <tenant>', 'the tenant it acts for')
    .option('--domain <domain>', 'a domain it is offered; may be given several times', collect)
    .addHelpText(
      'after',
      examples(
        'repertoire agents create support-bot --name "Support bot" --team support',
        'repertoire agents create ci --role publisher --team orders',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string], options: CreateOptions) => {
        const body = {
          id,
          name: options.name ?? id,
          role: options.role,
          team: options.team,
          tenant: options.tenant,
          domains: options.domain,
        }
        const { data } = await registry().transport.send<Agent>('POST', '/v1/agents', { body })
        print.result(data, () => sayAgent(data))
        print.note(`give it a key with: repertoire keys create ${data.id}`)
      }),
    )
  agents
    .command('list')
    .description('Lists the registered agents, by id.')
    .addHelpText('after', examples('repertoire agents list', 'repertoire agents list --json | jq -r ".items[].id"'))
    .action(
      withContext(async ({ print, registry }) => {
        const list = await readAllPages<Agent>(registry(), '/v1/agents')
        print.result(list, () =>
          layoutTable(
            {
              head: ['ID', 'ROLE', 'STATE', 'TEAM', 'TENANT', 'DOMAINS', 'NAME'],
              rows: list.items.map((agent) => [
                agent.id,
                agent.role,
                stateOf(agent),
                agent.team ?? '',
                agent.tenant ?? '',
                agent.domains.join(' '),
                agent.name,
              ]),
            },
            print.width,
          ),
        )
      }),
    )
  for (const { verb, disabled, what } of [
    { verb: 'disable', disabled: true, what: 'Disables an agent and all its keys with it, at once.' },
    { verb: 'enable', disabled: false, what: 'Enables an agent again, with the keys it had.' },
  ]) {
    agents
      .command(verb)
      .description(what)
      .argument('<id>', 'the agent')
      .addHelpText('after', examples(`repertoire agents ${verb} support-bot`))
      .action(
        withContext(async ({ print, registry }, [id]: [string]) => {
          const { data } = await registry().transport.send<Agent>('PATCH', apiPath`/v1/agents/${id}`, { body: { disabled } })
          print.result(data, () => `${data.id} is ${stateOf(data)}\n`)
        }),
      )
  }
}

function sayAgent(agent: Agent): string {
  return layoutPairs([
    ['agent', agent.id],
    ['name', agent.name],
    ['role', agent.role],
    ['state', stateOf(agent)],
    ['team', agent.team ?? undefined],
    ['tenant', agent.tenant ?? undefined],
    ['domains', agent.domains.join(', ')],
  ])
}

function stateOf(agent: Agent): string {
  return agent.disabled ? 'disabled' : 'enabled'
}
