import { z } from 'zod'

/** What was taken out of a row before it was kept: by which rules, how often, and whether that failed, so that no payload was kept. */
export const Redaction = z.object({ rules: z.array(z.string()), count: z.number(), failed: z.boolean() })
export type Redaction = z.infer<typeof Redaction>

/** The operator's file of rules: patterns searched for in every text, and further names of members that hold secrets. */
export const RedactFile = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        name: z
          .string()
          .max(40)
          .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'a name is lower case words joined by -'),
        pattern: z.string().min(1).max(1000),
        action: z.enum(['redact', 'hash', 'drop']),
      }),
    )
    .max(20)
    .default([]),
  keys: z.array(z.string().min(1).max(64)).max(100).default([]),
})
export type RedactFile = z.infer<typeof RedactFile>
