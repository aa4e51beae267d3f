// Runs one skill in this process: it gets its arguments over file descriptor 3 and says there how it ended.
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const channel = new Socket({ fd: 3, readable: true, writable: true })
const open = new Map()
let nextId = 1
let pending = []

const say = (message, then) => channel.write(`${JSON.stringify(message)}\n`, then)
const finish = (message) => say(message, () => process.exit(0))

// When the runner is gone, nobody waits for an answer any more.
channel.on('end', () => process.exit(0))
channel.on('error', () => process.exit(0))
// Only what is new is searched for an end of line: a large answer arrives in many pieces.
channel.on('data', (chunk) => {
  let rest = chunk
  for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
    const message = JSON.parse(Buffer.concat([...pending, rest.subarray(0, at)]).toString('utf8'))
    pending = []
    rest = rest.subarray(at + 1)
    if (message.type === 'run') run(message)
    else if (message.type === 'reply') settle(message)
  }
  if (rest.length > 0) pending.push(rest)
})

function host(name, args) {
  const id = nextId++
  say({ type: 'host', id, name, args })
  return new Promise((resolve, reject) => open.set(id, { resolve, reject }))
}

function settle({ id, ok, value, code, message, retryable }) {
  const waiting = open.get(id)
  open.delete(id)
  if (ok) waiting?.resolve(value)
  else waiting?.reject(new SkillRefusal(code, message, { retryable, effect: 'none' }))
}

/** A refusal of the skill's own: a result, not a fault. */
class SkillRefusal extends Error {
  constructor(code, message, more) {
    super(message)
    this.code = code
    this.retryable = more?.retryable === true
    this.details = Array.isArray(more?.details) ? more.details : []
    // A refusal of the host came before anything was done; whether the runner agrees is its own affair.
    this.effect = more?.effect === 'none' ? 'none' : 'possible'
  }
}

function contextFor(message) {
  return {
    callId: message.call_id,
    skill: message.skill,
    traceparent: message.traceparent,
    refuse: (code, text, more) => {
      throw new SkillRefusal(code, text, more)
    },
    mounts: () => host('files.mounts', {}),
    files: (mount) => ({
      read: async (path, { offset = 0, maxBytes } = {}) => {
        const read = await host('files.read', { mount, path, offset, ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }) })
        return { bytes: Buffer.from(read.base64, 'base64'), total: read.total }
      },
      write: (path, content) => host('files.write', { mount, path, base64: Buffer.from(content).toString('base64') }),
      list: (path = '.') => host('files.list', { mount, path }),
    }),
    fetch: async (url, { method, headers, body, maxBytes, timeoutMs } = {}) => {
      const fetched = await host(
        'fetch',
        JSON.parse(JSON.stringify({ url: String(url), method, headers, body, max_bytes: maxBytes, timeout_ms: timeoutMs })),
      )
      return { status: fetched.status, headers: fetched.headers, bytes: Buffer.from(fetched.base64, 'base64'), cut: fetched.cut }
    },
    mail: () => ({ send: (mail) => host('mail.send', mail) }),
  }
}

async function run(message) {
  let skill
  try {
    skill = await import(pathToFileURL(join(message.code_dir, message.entry)).href)
  } catch (error) {
    return finish({ type: 'failed', reason: error instanceof SyntaxError ? 'syntax_error' : 'threw', ...tell(error) })
  }
  const camel = message.skill.replace(/[-_]([a-z0-9])/g, (_, letter) => letter.toUpperCase())
  const called = [skill.run, skill.default, skill[camel], skill[message.skill.replaceAll('-', '_')]].find(
    (candidate) => typeof candidate === 'function',
  )
  if (called === undefined) return finish({ type: 'failed', reason: 'missing_export', message: `${message.entry} exports no function run` })
  try {
    finishWith(await called(message.arguments, contextFor(message)))
  } catch (error) {
    if (error instanceof SkillRefusal)
      return finish({
        type: 'skill_error',
        code: String(error.code).slice(0, 64),
        message: error.message,
        retryable: error.retryable,
        details: error.details.map(String),
        effect: error.effect,
      })
    finish({ type: 'failed', reason: 'threw', ...tell(error) })
  }
}

// A skill answers with its data, or with an envelope of its own.
function finishWith(value) {
  const isEnvelope = typeof value === 'object' && value !== null && typeof value.ok === 'boolean' && ('data' in value || 'error' in value)
  if (isEnvelope && !value.ok) {
    const error = typeof value.error === 'object' && value.error !== null ? value.error : { message: value.error }
    return finish({
      type: 'skill_error',
      code: String(error.code ?? 'SKILL_FAILED').slice(0, 64),
      message: String(error.message ?? 'the skill said no'),
      retryable: error.retryable === true,
      details: [],
    })
  }
  let json
  try {
    json = JSON.stringify(isEnvelope ? (value.data ?? null) : value, refuseNonFinite)
  } catch (error) {
    return finish({ type: 'failed', reason: 'not_json', ...tell(error) })
  }
  if (json === undefined) return finish({ type: 'failed', reason: 'not_json', message: 'the skill answered with nothing' })
  finish({ type: 'done', json })
}

// Who called learns what happened; where, in which file of this machine, is for the operator's log.
function tell(error) {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return { message: message.slice(0, 500), trace: error instanceof Error ? String(error.stack).slice(0, 4000) : undefined }
}

// JSON has no NaN and no Infinity, and null in their place would be another answer.
function refuseNonFinite(key, value) {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${key === '' ? 'the answer' : key} is ${value}, which JSON cannot say`)
  return value
}
