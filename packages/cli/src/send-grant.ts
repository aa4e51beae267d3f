import { RepertoireError, type Answer, type Grant } from '@repertoire/sdk'
import { CommandError } from './command-error.ts'
import type { Context } from './context.ts'
import { explainError } from './explain-error.ts'

/** Sends a grant; one that is refused for its risk is sent again once somebody who was told of the risk accepts it. */
export async function sendGrant(
  { registry, ask, print }: Pick<Context, 'registry' | 'ask' | 'print'>,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer<Grant>> {
  const { transport } = registry()
  try {
    return await transport.send<Grant>('POST', path, { body })
  } catch (error) {
    const isRisk = error instanceof RepertoireError && error.details.some((detail) => detail.path === '/accept_risk')
    if (!isRisk || ask === undefined) throw error
    print.show(() => explainError(error))
    if (!/^y(es)?$/i.test((await ask('Accept the risk? [y/N] ')).trim()))
      throw new CommandError({ exit: 'interrupted', code: 'DECLINED', message: 'Nothing has changed.' })
    return transport.send<Grant>('POST', path, { body: { ...body, accept_risk: true } })
  }
}
