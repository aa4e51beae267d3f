/** For how many days payloads are kept, and everything else of a call. */
export type Retention = { readonly payloadDays: number; readonly callDays: number }
