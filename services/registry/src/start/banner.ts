import type { Config } from '../config.ts'
import type { EmbeddedPostgres } from '../postgres/embedded.ts'

/** What a start has to say for itself. */
export type Started = {
  readonly config: Config
  readonly port: number
  readonly embedded: EmbeddedPostgres | undefined
  readonly madeKey: boolean
  readonly skills: readonly string[]
}

/** The lines printed when the registry is ready: where it is, where the key lies, and a command that works. */
export function writeBanner({ config, port, embedded, madeKey, skills }: Started): string {
  const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  const postgres =
    embedded === undefined
      ? 'the one of DATABASE_URL'
      : `embedded, in ${config.dataDir}/postgres${embedded.adopted ? ' (it was still running, and was adopted)' : ''}`
  return [
    `Repertoire is ready at ${address}`,
    '',
    `postgres  ${postgres}`,
    ...skills,
    `admin key ${config.adminKeyFile}${madeKey ? ' (made just now)' : ''}`,
    `API       ${address}/docs`,
    '',
    'Try it:',
    `  curl -s -H "Authorization: Bearer $(cat ${quote(config.adminKeyFile)})" "${address}/v1/skills?view=names"`,
  ].join('\n')
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
