import { agentToRead, nameInRows, nameKey, readingScope, Refusal, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** What is asked about, and whether the answer would tell agents apart. */
export type Asked = { readonly skill: string | undefined; readonly agent: string | undefined; readonly tellsAgents: boolean }

/** The filters that hold for a caller: its own calls alone, unless it sees everything or counts a skill of its team without telling agents apart. */
export function narrow(
  deps: Deps,
  caller: Caller,
  asked: Asked,
): { readonly skill: string | undefined; readonly agent: string | undefined } {
  // What is counted does not say for whom an agent asked, and one user is not told what others did.
  if (caller.onBehalfOf !== null)
    throw new Refusal('ROLE_REQUIRED', 'Calls are not counted for one user of an agent.', {
      hint: 'leave Repertoire-On-Behalf-Of out, or list the calls',
    })
  const snapshot = deps.snapshot()
  const record = asked.skill === undefined ? undefined : snapshot.skills.get(nameKey(asked.skill))
  const isOwner = readingScope(caller, record) === 'own_skill' && asked.agent === undefined && !asked.tellsAgents
  return {
    skill: asked.skill === undefined ? undefined : nameInRows(snapshot, asked.skill, { caller, nowMs: deps.clock.now().getTime() }),
    agent: isOwner ? undefined : agentToRead(caller, asked.agent),
  }
}
