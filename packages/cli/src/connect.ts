import { Repertoire } from '@repertoire/sdk'
import { CommandError, usageError } from './command-error.ts'
import type { Environment } from './environment.ts'
import { readKeyFile } from './key-file.ts'

/** Where the registry is and who asks, from the options of a command. */
export type ConnectOptions = { readonly url?: string | undefined; readonly keyFile?: string | undefined }

/** A client of the registry, where that is, and what a person should know about the way to it. */
export type Connected = { readonly registry: Repertoire; readonly address: string; readonly remark: string | undefined }

/** Connects with the key that was given: `--key-file` first, then REPERTOIRE_KEY, then REPERTOIRE_KEY_FILE. */
export function connect(options: ConnectOptions, environment: Environment): Connected {
  const url = readUrl(options.url ?? environment.url)
  const key = readKey(options, environment)
  const isOpen = url.protocol === 'http:' && !isLoopback(url.hostname)
  return {
    registry: new Repertoire({ url: url.href, key }),
    address: url.href.replace(/\/+$/, ''),
    remark: isOpen ? `the key travels to ${url.host} unencrypted; use https` : undefined,
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw usageError(
      `${JSON.stringify(text)} is not the address of a registry.`,
      'write it like https://registry.example.com, as --url or REPERTOIRE_URL',
    )
  if (url.username !== '' || url.password !== '')
    throw usageError('The address of a registry holds no user or password.', 'give the key as REPERTOIRE_KEY or --key-file')
  if (url.search !== '' || url.hash !== '') throw usageError('The address of a registry ends before ? or #.', 'leave the rest away')
  return url
}

function readKey(options: ConnectOptions, environment: Environment): string {
  const key = options.keyFile === undefined ? environment.key?.trim() : readKeyFile(options.keyFile)
  const found = key ?? (environment.keyFile === undefined ? undefined : readKeyFile(environment.keyFile))
  if (found === undefined || found === '') {
    throw new CommandError({
      exit: 'denied',
      code: 'NO_KEY',
      message: 'There is no key to show to the registry.',
      hint: 'set REPERTOIRE_KEY, or REPERTOIRE_KEY_FILE to a file with mode 600 (a new registry writes one to .data/admin.key)',
    })
  }
  // What cannot stand in a header would fail as if the registry were away.
  if (!/^[\x21-\x7e]+$/.test(found))
    throw new CommandError({
      exit: 'denied',
      code: 'BAD_KEY',
      message: 'The key contains a space or a character no key has.',
      hint: 'copy the key again: rep_… and nothing else',
    })
  return found
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
