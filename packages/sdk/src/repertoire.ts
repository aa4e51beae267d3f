import type { CallBody, Declared, ResolvedSet, Self, SkillDetail, SkillList, SkillListItem } from '@repertoire/contract/sdk'
import { backgroundCall, type BackgroundCall } from './background-call.ts'
import type { CallResult } from './call-result.ts'
import { RepertoireError } from './repertoire-error.ts'
import { createTransport, unsendable, type RequestOptions, type Transport } from './transport.ts'

/** How an agent reaches its registry. */
export type RepertoireOptions = {
  /** The registry; `REPERTOIRE_URL` or `http://127.0.0.1:4000` unless given. */
  readonly url?: string
  /** The agent's key; `REPERTOIRE_KEY` unless given. */
  readonly key?: string
  /** The ranges this agent works with, sent with every request. */
  readonly requires?: Readonly<Record<string, string>>
  readonly session?: string
  readonly tenant?: string
  readonly instance?: string
  /** The token of the user this agent asks for: then only what both may is allowed. */
  readonly onBehalfOf?: string
  /** How long an answer may take, in milliseconds; 30 000 unless given. */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
}

/** What a list shows. */
export type ListOptions = { readonly view?: 'names' | 'summary' | 'full'; readonly domain?: string; readonly signal?: AbortSignal }

/** How a call is made, beside its arguments. Times are milliseconds. */
export type CallOptions = {
  readonly range?: string
  /** In place of the client's own session or tenant. */
  readonly session?: string
  readonly tenant?: string
  readonly expectVersion?: string
  readonly dryRun?: boolean
  readonly timeoutMs?: number
  readonly maxResultBytes?: number
  readonly intent?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The same key with the same call gets the first answer again for a day, and has no second effect. */
  readonly idempotencyKey?: string
  /** In place of the client's own user: the token of the one this call is for. */
  readonly onBehalfOf?: string
  readonly signal?: AbortSignal
}

/** The same for a call in the background, of which there is no dry run; `signal` is for its start alone. */
export type BackgroundCallOptions = Omit<CallOptions, 'dryRun'>

const maxPages = 500
const onBehalfOfHeader = 'repertoire-on-behalf-of'

/** A client of the registry. Every no is a `RepertoireError` with a code of the catalogue. */
export class Repertoire {
  /** For routes that have no method here. */
  readonly transport: Transport

  constructor(options: RepertoireOptions = {}) {
    const environment = typeof process === 'undefined' ? {} : process.env
    const key = options.key ?? environment['REPERTOIRE_KEY'] ?? ''
    const url = options.url ?? environment['REPERTOIRE_URL'] ?? 'http://127.0.0.1:4000'
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw unsendable(`${JSON.stringify(url)} is not the address of a registry.`, 'write it like http://127.0.0.1:4000')
    const requires = Object.entries(options.requires ?? {})
      .map(([name, range]) => `${name}@${range}`)
      .join(', ')
    this.transport = createTransport({
      url,
      timeoutMs: options.timeoutMs ?? 30_000,
      fetch: options.fetch ?? fetch,
      headers: present({
        authorization: key === '' ? undefined : `Bearer ${key}`,
        'repertoire-requires': requires === '' ? undefined : requires,
        'repertoire-session': options.session,
        'repertoire-tenant': options.tenant,
        'repertoire-instance': options.instance,
        [onBehalfOfHeader]: options.onBehalfOf,
      }),
    })
  }

  /** The skills this agent may use, each resolved to a version; all pages. */
  async list({ view, domain, signal }: ListOptions = {}): Promise<SkillListItem[]> {
    const items: SkillListItem[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page += 1) {
      const { data } = await this.transport.send<SkillList>('GET', '/v1/skills', { query: { view, domain, cursor, limit: 200 }, signal })
      items.push(...data.items)
      if (data.next_cursor === null) break
      cursor = data.next_cursor
    }
    return items
  }

  /** One skill: manifest, instructions, schemas, and why this version. */
  async describe(name: string, range?: string): Promise<SkillDetail> {
    return (await this.transport.send<SkillDetail>('GET', `/v1/skills/${segment(name)}`, { query: { range } })).data
  }

  /** What each range resolves to, all at one revision: a lock. */
  async resolve(requires: Readonly<Record<string, string>>): Promise<ResolvedSet> {
    return (await this.transport.send<ResolvedSet>('POST', '/v1/resolve', { body: { requires } })).data
  }

  /** Declares the ranges this instance works with, so that operators see who depends on what. */
  async declare(requires: Readonly<Record<string, string>>): Promise<Declared> {
    return (await this.transport.send<Declared>('PUT', '/v1/agents/self/requirements', { body: { requires } })).data
  }

  /** Calls a skill. A no of the skill itself is thrown too, with `origin: 'skill'`. */
  async call<T = unknown>(name: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<CallResult<T>> {
    const request: RequestOptions = {
      body: bodyOf(args, options),
      signal: options.signal,
      // The registry ends a call at its deadline; the connection waits a little longer for the answer that says so.
      timeoutMs: options.timeoutMs === undefined ? 310_000 : options.timeoutMs + 10_000,
      headers: headersOf(options),
    }
    const { data, meta } = await this.transport.send<T>('POST', `/v1/skills/${segment(name)}/calls`, request)
    return { data, meta }
  }

  /** Starts a call and answers with what it is waited for and ended by, as soon as every replica knows of it. */
  async callInBackground<T = unknown>(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: BackgroundCallOptions = {},
  ): Promise<BackgroundCall<T>> {
    const { data } = await this.transport.send<{ readonly call_id: string }>('POST', `/v1/skills/${segment(name)}/calls`, {
      body: bodyOf(args, options),
      signal: options.signal,
      headers: { ...headersOf(options), prefer: 'respond-async' },
    })
    return this.backgroundCall<T>(data.call_id, { onBehalfOf: options.onBehalfOf })
  }

  /** A call in the background that was started before, by its id: an agent that was restarted goes on waiting for it. */
  backgroundCall<T = unknown>(id: string, options: { readonly onBehalfOf?: string | undefined } = {}): BackgroundCall<T> {
    return backgroundCall<T>(this.transport, id, headersOf({ onBehalfOf: options.onBehalfOf }))
  }

  /** Who this key is, and what it holds. */
  async self(): Promise<Self> {
    return (await this.transport.send<Self>('GET', '/v1/agents/self')).data
  }
}

function bodyOf(args: Readonly<Record<string, unknown>>, options: CallOptions): Partial<CallBody> {
  return present({
    arguments: args,
    range: options.range,
    expect_version: options.expectVersion,
    session: options.session,
    tenant: options.tenant,
    dry_run: options.dryRun,
    timeout_ms: options.timeoutMs,
    max_result_bytes: options.maxResultBytes,
    intent: options.intent,
    labels: options.labels,
  }) as Partial<CallBody>
}

function headersOf({
  idempotencyKey,
  onBehalfOf,
}: {
  readonly idempotencyKey?: string | undefined
  readonly onBehalfOf?: string | undefined
}): Record<string, string> {
  return present({ 'idempotency-key': idempotencyKey, [onBehalfOfHeader]: onBehalfOf }) as Record<string, string>
}

// An address has no way to write these as a name: they would climb to another route.
function segment(name: string): string {
  if (name !== '' && name !== '.' && name !== '..') return encodeURIComponent(name)
  throw new RepertoireError({
    code: 'SKILL_NOT_FOUND',
    origin: 'registry',
    effect: 'none',
    next: 'fix_input',
    message: `${JSON.stringify(name)} is not a skill's name.`,
    status: 0,
  })
}

function present<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
