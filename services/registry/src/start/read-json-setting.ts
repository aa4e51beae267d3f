import { readFile } from 'node:fs/promises'

/** What checks a value, and says where the first thing that is wrong lies. */
type Shape<T> = {
  readonly safeParse: (value: unknown) =>
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false
        readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] }
      }
}

/** Reads a JSON file that a setting names; what is wrong with it is one sentence that names the setting. */
export async function readJsonSetting<T>(name: string, file: string, shape: Shape<T>): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${name}=${file} cannot be read: ${error.code ?? 'unknown'}.`)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${name}=${file} is not JSON.`)
  }
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`${name}=${file} is not right: ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'unknown'}.`)
}
