/** The SKILL.md of a small skill, in a version and with tags. */
export function greetManifest(version: string, permission = '[]'): string {
  return `---
name: greet-person
version: ${version}
description: Greets a person by name.
when_to_use: Use it when somebody wants a greeting.
permission: ${permission}
effects: read
examples:
  - say: greet Ada
    params: {name: Ada}
errors:
  - code: NOBODY_THERE
    when: the name is nobody
---
# Greet a person
`
}

/** The files of a small skill that greets, and says no to nobody. */
export function greetPerson(version = '1.0.0', permission = '[]'): Record<string, string> {
  return {
    'SKILL.md': greetManifest(version, permission),
    'input.schema.json':
      '{\n  "type": "object",\n  "properties": { "name": { "type": "string" } },\n  "required": ["name"],\n  "additionalProperties": false\n}\n',
    'output.schema.json': '{"type":"object","properties":{"greeting":{"type":"string"}},"required":["greeting"]}',
    'skill.js': `export async function run({ name }, context) {
  if (name === 'nobody') context.refuse('NOBODY_THERE', 'there is \\u001b[31mnobody\\u001b[0m to greet')
  if (name === 'crash') throw new Error('something broke')
  if (name === 'sleep') await new Promise((resolve) => setTimeout(resolve, 20000))
  return { greeting: 'Hello ' + name }
}
`,
  }
}

/** The same files below a folder. */
export function inFolder(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))
}
