import { z } from 'zod'
import { AgentId } from './names.ts'
import { TagClassReached } from './tag-classes.ts'

/** The query of an explanation. */
export const ExplainQuery = z.strictObject({
  skill: z.string().min(1).max(128),
  range: z.string().optional(),
  on_behalf_of: AgentId.optional().describe('a registered agent that stands for the user who is asked for'),
})

const Judged = z.enum(['agent', 'user'])

const RuleExplained = z
  .object({
    id: z.string(),
    pattern: z.string(),
    deny: z.boolean(),
    expires_at: z.string().nullable(),
    granted_by: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .nullable()

/** What decides about one tag. */
export const TagExplained = z.object({
  tag: z.string(),
  allowed: z.boolean().describe('by the agent, and by the user it asks for'),
  high_risk: z.boolean().describe('no wildcard grant covers it'),
  judged: Judged.describe('whose rule decides: that of the user where the agent is allowed and the user is not'),
  rule: RuleExplained.describe("the agent's grant or denial; null where it has none"),
  user_rule: RuleExplained.describe("the user's; null where it has none, or nobody is asked for"),
})
export type TagExplained = z.infer<typeof TagExplained>

/** Whether an agent may call a skill, and the grant or denial that decides for each of its tags. */
export const AccessExplained = z.object({
  agent: z.string(),
  on_behalf_of: z.string().nullable(),
  disabled: z.boolean().describe('the agent, or the user it asks for'),
  skill: z.string(),
  private: z.boolean(),
  version: z.string().nullable().describe('the version that was judged'),
  problem: z.string().nullable().describe('why no version is served, when none is'),
  may_call: z.boolean(),
  may_see: z.boolean(),
  rule_id: z
    .string()
    .describe('the rule in the rows of its calls: the first grant, the first denial, open, or none; after user: that of the user'),
  judged: Judged.describe('whose grants or denials decide'),
  tags: z.array(TagExplained),
  classes: z.array(TagClassReached).describe('the classes of tags the agent reaches, whatever this skill needs'),
})
export type AccessExplained = z.infer<typeof AccessExplained>
