import type { Agent, CreateAgentBody } from '@repertoire/contract'
import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { AgentRow } from '../stored.ts'

/** Registers an agent; it holds nothing until something is granted. */
export async function createAgent(deps: Deps, caller: Caller, input: CreateAgentBody): Promise<Agent> {
  requireRole(caller, 'admin')
  if (input.id === 'system' || input.id === 'self')
    throw new Refusal('INVALID_REQUEST', `The id ${input.id} is reserved.`, {
      hint: 'choose another id',
      details: [{ path: '/id', rule: 'reserved' }],
    })
  return deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    const agent = {
      id: input.id,
      name: input.name,
      role: input.role,
      team: input.team ?? null,
      tenant: input.tenant ?? null,
      domains: input.domains,
      disabled: false,
    }
    if (!(await tx.agents.insert({ ...agent, at, by: caller.id })))
      throw new Refusal('CONFLICT', `There is an agent ${input.id} already.`, { hint: 'choose another id, or change that agent' })
    await tx.audit.append({ caller, action: 'agent.create', subject: input.id, after: agent, at })
    return showAgent({ ...agent, createdAt: at })
  })
}

/** An agent as its readers see it. */
export function showAgent(agent: AgentRow): Agent {
  const { createdAt, domains, ...rest } = agent
  return { ...rest, domains: [...domains], created_at: createdAt.toISOString() }
}
