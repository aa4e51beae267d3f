import type { RegistryProcess } from './start-process.ts'

const open = JSON.stringify({ type: 'object', properties: {}, additionalProperties: true })

/** The files of a skill that a test needs, carried out by JavaScript that answers at once. */
export function skillFiles(name: string, version: string, permission: readonly string[] = []): Record<string, string> {
  return {
    'SKILL.md': `---\nname: ${name}\nversion: ${version}\ndescription: A skill that a test wrote.\npermission: [${permission.join(', ')}]\neffects: read\n---\nUse it well.\n`,
    'input.schema.json': open,
    'output.schema.json': open,
    'skill.js': `export const run = () => ({ version: '${version}' })\n`,
  }
}

/** Sends an operator's command and expects it to be carried out. */
export async function command(
  registry: RegistryProcess,
  path: string,
  body: object = {},
): Promise<{ readonly data: Record<string, never> }> {
  const response = await fetch(`${registry.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${registry.key}`, 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ reason: 'a test tries it', ...body }),
  })
  const envelope = (await response.json()) as { readonly data: Record<string, never>; readonly error: unknown }
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(envelope.error)}`)
  return envelope
}

/** Publishes and, unless it is to stay a candidate, releases a version. */
export async function publish(
  registry: RegistryProcess,
  {
    name,
    version,
    permission,
    candidate = false,
  }: { readonly name: string; readonly version: string; readonly permission?: string[]; readonly candidate?: boolean },
): Promise<void> {
  const reply = await registry.send('POST', '/v1/skills', { files: skillFiles(name, version, permission) })
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body.error))
  if (!candidate) await command(registry, `skills/${name}/versions/${version}/release`)
}
