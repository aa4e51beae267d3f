import { z } from 'zod'

/** A tag, or all that lie below one: what a grant names. */
export const TagPattern = z
  .string()
  .max(255)
  .regex(/^(\*|[a-z0-9][a-z0-9._-]*(:[a-z0-9][a-z0-9._/-]*){0,7}(:\*)?)$/, 'a pattern is a tag, or a tag with * as its last segment')

/** What a tag may open: data that is not everybody's, text that anybody may have written, or a way to send something out. */
export const TagClass = z.enum(['private_data', 'untrusted_content', 'way_out'])
export type TagClass = z.infer<typeof TagClass>

/** The tags of each class; a class that is left out has those it has by itself, and an empty one is no class. */
export const TagClasses = z.strictObject({
  private_data: z.array(TagPattern).max(256).default(['fs', 'fs:read', 'fs:read:*', 'payload', 'payload:*', 'secrets', 'secrets:*']),
  untrusted_content: z.array(TagPattern).max(256).default(['network', 'network:*']),
  way_out: z.array(TagPattern).max(256).default(['smtp', 'smtp:*', 'network', 'network:*']),
})
export type TagClasses = z.output<typeof TagClasses>

/** A class that an agent reaches, and the grants that give it. */
export const TagClassReached = z.object({
  tag_class: TagClass,
  grants: z.array(z.object({ id: z.string(), pattern: z.string() })),
})
