import type { Meta } from '@repertoire/contract/sdk'

/** What a call brought, and which version brought it and why. */
export type CallResult<T> = { readonly data: T; readonly meta: Meta }
