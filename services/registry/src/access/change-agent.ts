import type { Agent, PatchAgentBody } from '@repertoire/contract'
import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showAgent } from './create-agent.ts'

/** Changes an agent's name, team or domains, or disables it and all its keys with it. */
export async function changeAgent(deps: Deps, caller: Caller, { id, ...change }: PatchAgentBody & { readonly id: string }): Promise<Agent> {
  requireRole(caller, 'admin')
  return deps.store.transaction(
    async (tx) => {
      const before = await tx.agents.lock(id)
      if (before === undefined) throw noAgent(id)
      if (change.disabled === true && id === caller.id)
        throw new Refusal('ILLEGAL_TRANSITION', 'An admin cannot disable itself.', { hint: 'let another admin do it' })
      const after = {
        ...before,
        name: change.name ?? before.name,
        disabled: change.disabled ?? before.disabled,
        team: change.team === undefined ? before.team : change.team,
        domains: change.domains ?? before.domains,
      }
      await tx.agents.update(after)
      await tx.audit.append({
        caller,
        action: 'agent.change',
        subject: id,
        before: showAgent(before),
        after: showAgent(after),
        at: deps.clock.now(),
      })
      return showAgent(after)
    },
    { isUrgent: change.disabled === true },
  )
}

/** The refusal for an agent that is not there. */
export function noAgent(id: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no agent ${id}.`, { hint: 'repertoire agents list shows them' })
}
