import type { Connection } from '@repertoire/sdk'
import { InvalidArgumentError, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { layoutTable } from '../table.ts'

type HeaderSource = { readonly env: string } | { readonly file: string }

/** Adds `repertoire connections`. */
export function addConnections(program: Command): void {
  const connections = program
    .command('connections')
    .summary('name the base URLs that skills are carried out by')
    .description('Names base URLs for skills that are carried out over HTTP or MCP, with references to their credentials.')
  connections
    .command('create')
    .description('Names a base URL. A credential is never given here: only the variable or the file in which the registry finds it.')
    .argument('<name>', 'lower case letters, digits and -')
    .argument('<base-url>', 'where it is, http or https')
    .option('--header <header>', 'Name=env:VARIABLE or Name=file:/path; may be given several times', readHeader)
    .addHelpText(
      'after',
      examples(
        'repertoire connections create orders https://orders.internal.example',
        'repertoire connections create mail https://mail.example.com --header Authorization=env:MAIL_TOKEN',
      ),
    )
    .action(
      withContext(
        async (
          { print, registry },
          [name, baseUrl]: [string, string],
          options: { readonly header?: Readonly<Record<string, HeaderSource>> },
        ) => {
          const { data } = await registry().transport.send<Connection>('POST', '/v1/connections', {
            body: { name, base_url: baseUrl, headers: options.header },
          })
          print.result(data, () => sayTable([data], print.width))
        },
      ),
    )
  connections
    .command('list')
    .description('Lists the connections, and where their credentials lie.')
    .addHelpText('after', examples('repertoire connections list'))
    .action(
      withContext(async ({ print, registry }) => {
        const { items } = (await registry().transport.send<{ items: Connection[] }>('GET', '/v1/connections')).data
        print.result({ items, next_cursor: null }, () => sayTable(items, print.width))
      }),
    )
  connections
    .command('remove')
    .description('Removes a connection; skills that name it fail from then on.')
    .argument('<name>', 'the connection')
    .addHelpText('after', examples('repertoire connections remove orders'))
    .action(
      withContext(async ({ print, registry }, [name]: [string]) => {
        const { data } = await registry().transport.send<{ id: string; removed: boolean }>('DELETE', apiPath`/v1/connections/${name}`)
        print.result(data, () => `connection ${name} is removed\n`)
      }),
    )
}

/** Reads one `--header` and adds it to those before. */
export function readHeader(text: string, before: Readonly<Record<string, HeaderSource>> = {}): Record<string, HeaderSource> {
  const match = /^([A-Za-z0-9-]+)=(env|file):(.+)$/.exec(text)
  const [, name = '', kind, place = ''] = match ?? []
  if (match === null) throw new InvalidArgumentError('It is Name=env:VARIABLE or Name=file:/path; the value itself is never given.')
  return { ...before, [name]: kind === 'env' ? { env: place } : { file: place } }
}

function sayTable(connections: readonly Connection[], width: number | undefined): string {
  return layoutTable(
    {
      head: ['NAME', 'BASE URL', 'CREATED', 'HEADERS'],
      rows: connections.map(({ name, base_url: url, created_at: created, headers }) => [
        name,
        url,
        created.slice(0, 10),
        Object.entries(headers)
          .map(([header, source]) => `${header}=${source}`)
          .join(' '),
      ]),
    },
    width,
  )
}
