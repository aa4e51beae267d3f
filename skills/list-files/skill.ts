type Mount = { readonly name: string; readonly readable?: boolean }
type Listed = { readonly entries: readonly { readonly name: string; readonly kind: string; readonly bytes: number | null; readonly modified: string | null }[]; readonly total: number }
type Files = { readonly list: (path: string) => Promise<Listed> }
type Context = { readonly mounts: () => Promise<Mount[]>; readonly files: (mount: string) => Files; readonly refuse: (code: string, message: string) => never }
type Input = { readonly mount?: string; readonly path?: string; readonly depth?: number; readonly pattern?: string; readonly limit?: number }
type Entry = { readonly path: string; readonly kind: string; readonly bytes: number | null; readonly modified: string | null }

const maxFolders = 500
const maxEntries = 20_000

/** Lists what lies in a folder of a mount, down to a depth; it counts everything and shows a part. */
export async function run({ mount, path = '.', depth = 1, pattern = '*', limit = 100 }: Input, ctx: Context): Promise<object> {
  const root = normalise(path, ctx)
  const open = mount === undefined ? (await ctx.mounts()).filter(({ readable }) => readable !== false) : []
  const mounts = mount === undefined ? { mounts: open.map(({ name }) => name) } : {}
  const chosen = mount ?? (open.length === 1 ? open[0]?.name : undefined) ?? 'workspace'
  // Of several mounts with no obvious one among them, the mounts are the answer.
  if (root === '' && open.length > 1 && open.every(({ name }) => name !== chosen)) {
    return { ...mounts, mount: null, path: root, count: 0, shown: 0, truncated: false, count_is_complete: true, entries: [] }
  }
  const { found, isComplete } = await collect(ctx.files(chosen), { root, depth })
  const fitting = found.filter((entry) => matches(pattern.includes('/') ? below(root, entry.path) : nameOf(entry.path), pattern.toLowerCase()))
  const entries = fitting.slice(0, limit)
  return { ...mounts, mount: chosen, path: root, count: fitting.length, shown: entries.length, truncated: !isComplete || entries.length < fitting.length, count_is_complete: isComplete, entries }
}

function normalise(path: string, ctx: Context): string {
  if (/^[/\\]|^[A-Za-z]:[/\\]/.test(path)) {
    const relative = path.replace(/^[A-Za-z]:/, '').replace(/^[/\\]+/, '')
    ctx.refuse('PATH_NOT_RELATIVE', `A path begins at its mount: write ${relative || '.'} instead of ${path}.`)
  }
  return path.split('/').filter((segment) => segment !== '' && segment !== '.').join('/')
}

/** Goes down level by level, so that what lies near is there, should there be more than can be looked at. */
async function collect(files: Files, { root, depth }: { readonly root: string; readonly depth: number }): Promise<{ readonly found: Entry[]; readonly isComplete: boolean }> {
  const found: Entry[] = []
  let isComplete = true
  let looked = 0
  let level = [root]
  for (let down = 0; down < depth; down += 1) {
    const next: string[] = []
    for (const folder of level) {
      looked += 1
      const listed = looked > maxFolders || found.length >= maxEntries ? undefined : await listFolder(files, { folder, isRoot: down === 0 })
      if (listed === undefined || listed.total > listed.entries.length) isComplete = false
      for (const { name, kind, bytes, modified } of listed?.entries ?? []) {
        const path = folder === '' ? name : `${folder}/${name}`
        found.push({ path, kind, bytes, modified })
        if (kind === 'folder') next.push(path)
      }
    }
    level = next
  }
  return { found: found.sort((a, b) => (a.path < b.path ? -1 : 1)), isComplete }
}

// A folder further down that may not be read, or is gone by now, must not keep the others from being shown.
async function listFolder(files: Files, { folder, isRoot }: { readonly folder: string; readonly isRoot: boolean }): Promise<Listed | undefined> {
  try {
    return await files.list(folder === '' ? '.' : folder)
  } catch (error) {
    if (isRoot) throw error
    return undefined
  }
}

/** Whether a name fits a pattern in which * stands for anything but a slash; in time that does not explode. */
function matches(text: string, pattern: string): boolean {
  const name = text.toLowerCase()
  let [at, want, star, taken] = [0, 0, -1, 0]
  while (at < name.length) {
    if (pattern[want] === '*') {
      star = want
      taken = at
      want += 1
    } else if (pattern[want] === name[at]) {
      want += 1
      at += 1
    } else if (star >= 0 && name[taken] !== '/') {
      taken += 1
      at = taken
      want = star + 1
    } else return false
  }
  while (pattern[want] === '*') want += 1
  return want === pattern.length
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function below(root: string, path: string): string {
  return root === '' ? path : path.slice(root.length + 1)
}
