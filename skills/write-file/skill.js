import { checkJavaScript } from './check/javascript.js'
import { checkJson } from './check/json.js'
import { checkYaml } from './check/yaml.js'

const checks = { json: checkJson, yaml: checkYaml, yml: checkYaml, js: checkJavaScript, mjs: checkJavaScript }

/** Writes a whole text file, and says whether what was written is sound in its language, where that can be told. */
export async function run({ mount, path, content }, ctx) {
  refuseAbsolute(path, ctx)
  if (path.endsWith('/')) ctx.refuse('NOT_A_FILE', `${path} names a folder; folders are made by writing a file into them.`)
  if (!content.isWellFormed()) ctx.refuse('CONTENT_NOT_TEXT', 'The content holds half of a surrogate pair, which no file in UTF-8 can hold.')
  const chosen = mount ?? (await defaultMount(ctx))
  const { bytes, created } = await ctx.files(chosen).write(path, content)
  const check = checkOf(path, content)
  return { mount: chosen, path, bytes, created, ...(check === undefined ? {} : { check }) }
}

// The file is written by now: a check that gives up, as on a text nested without end, must not make a failure of that.
function checkOf(path, content) {
  try {
    return checks[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase()]?.(content, path)
  } catch {
    return undefined
  }
}

function refuseAbsolute(path, ctx) {
  if (!/^[/\\]|^[A-Za-z]:[/\\]/.test(path)) return
  const relative = path.replace(/^[A-Za-z]:/, '').replace(/^[/\\]+/, '')
  ctx.refuse('PATH_NOT_RELATIVE', `A path begins at its mount: write ${relative || 'a name'} instead of ${path}.`)
}

async function defaultMount(ctx) {
  const writable = (await ctx.mounts()).filter((mount) => mount.writable)
  return writable.length === 1 ? writable[0].name : 'workspace'
}
