import { bigint, customType, timestamp } from 'drizzle-orm/pg-core'

/** Bytes, which Drizzle has no column for. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

/** A moment, in UTC. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

/** The revision that last changed a row; replicas read what lies above the one they hold. */
export const revisionColumn = () => bigint('revision', { mode: 'number' }).notNull()
