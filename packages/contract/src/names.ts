import { z } from 'zod'

/** The shape of a skill's name: lower case words joined by single `-` or `_`. */
export const skillNamePattern = /^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/

/** The longest skill name, in characters. */
export const maxSkillNameLength = 64

/** The id of an agent, and of a user that an agent asks for. */
export const AgentId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'an agent id is lower case letters, digits, . _ -, at most 64')
