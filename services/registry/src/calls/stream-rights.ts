import { permit, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import { payloadTag } from './show-payloads.ts'

/** Whether somebody who reads a stream may go on; what it says otherwise is for the reader. */
export type StreamRights = { readonly lost: () => string | undefined }

/** Watches the rights a stream was opened with: key, agent, role and the tag for payloads have to stay what they were. */
export function watchRights(deps: Deps, visit: Visit): StreamRights {
  const before = rightsOf(deps, visit.caller)
  return {
    lost: () => {
      if (deps.unconfirmedMs() > deps.settings.staleLimitMs) return 'This replica does not know any more what holds.'
      const caller = visit.callerNow()
      if (caller === undefined) return 'The key is not valid any more.'
      return rightsOf(deps, caller) === before ? undefined : 'What this key may read has changed; open the stream again.'
    },
  }
}

function rightsOf(deps: Deps, caller: Caller): string {
  return `${caller.role} ${permit(caller.grants, [payloadTag], deps.clock.now().getTime()).allow}`
}
