import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** Puts a file in the place of another, on the disk before its name is: a crash leaves the old one or the new one. */
export async function replaceFile(
  folder: string,
  name: string,
  fill: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const fresh = join(folder, `${name}.new`)
  const file = await open(fresh, 'w', 0o600)
  try {
    await fill((text) => file.appendFile(text))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, join(folder, name))
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
}
