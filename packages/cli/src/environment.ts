import { settings } from '@repertoire/contract/sdk'
import { usageError } from './command-error.ts'

/** What the environment says to the command line. */
export type Environment = { readonly url: string; readonly key: string | undefined; readonly keyFile: string | undefined }

/** Whether files here say who may read them; on Windows every file would look open to all. */
export const hasFileModes = process.platform !== 'win32'

/** Reads the variables of the command line; one that is set to nothing counts as not set. */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const get = (name: string): string | undefined => (variables[name] === '' ? undefined : variables[name])
  return { url: get('REPERTOIRE_URL') ?? fallbackUrl(), key: get('REPERTOIRE_KEY'), keyFile: get('REPERTOIRE_KEY_FILE') }
}

/** Refuses a variable that is one of ours but for a slip of the pen, and returns a remark about each other one nobody reads. */
export async function checkVariables(variables: NodeJS.ProcessEnv = process.env): Promise<string[]> {
  const known = new Set<string>(settings.map((setting) => setting.name))
  const strangers = Object.keys(variables).filter((name) => name.startsWith('REPERTOIRE_') && !known.has(name))
  if (strangers.length === 0) return []
  const { nearestName } = await import('@repertoire/core')
  return strangers.map((name) => {
    const near = nearestName(name, known)
    if (near !== undefined) throw usageError(`${name} is not a variable of ours; ${near} is.`, 'correct its name, or unset it')
    return `${name} is not a variable of ours, and nothing reads it`
  })
}

function fallbackUrl(): string {
  return settings.find((setting) => setting.name === 'REPERTOIRE_URL')?.fallback ?? ''
}
