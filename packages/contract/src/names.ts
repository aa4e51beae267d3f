/** The shape of a skill's name: lower case words joined by single `-` or `_`. */
export const skillNamePattern = /^[a-z][a-z0-9]*([-_][a-z0-9]+)*$/

/** The longest skill name, in characters. */
export const maxSkillNameLength = 64
