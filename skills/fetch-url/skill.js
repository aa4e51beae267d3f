import { htmlToText } from './html-to-text.js'

const maxRedirects = 5
const maxDownloadBytes = 2 * 1024 * 1024
const defaultTextBytes = 48 * 1024
const hopTimeoutMs = 10_000
const passing = ['FETCH_TIMEOUT', 'FETCH_FAILED']

/** Fetches what lies at an address, and makes readable text of it, or the JSON it is. */
export async function run({ url, max_bytes = defaultTextBytes, as = 'text' }, ctx) {
  const { answer, final_url, redirects } = await follow(url, { as, ctx })
  const type = answer.headers['content-type'] ?? null
  // Bytes that are packed and cut at once cannot be unpacked any more.
  if (answer.cut && (answer.headers['content-encoding'] ?? 'identity') !== 'identity') ctx.refuse('RESPONSE_TOO_LARGE', `${final_url} answers with more than ${maxDownloadBytes} packed bytes.`)
  const found = { final_url, redirects, status: answer.status, content_type: type, bytes: answer.bytes.length }
  if (as === 'json') return { ...found, json: readJson(answer, { final_url, max_bytes, ctx }), truncated: false }
  const text = decode(answer, { type, final_url, ctx })
  const isHtml = type === null ? /^\s*<(!doctype html|html)/i.test(text.slice(0, 500)) : /^(text\/html|application\/xhtml\+xml)\b/i.test(type)
  const page = isHtml ? htmlToText(text) : { text }
  const shown = cut(page.text, max_bytes)
  return { ...found, ...(page.title ? { title: page.title } : {}), text: shown, truncated: answer.cut || shown.length < page.text.length }
}

/** Redirects are followed here, hop by hop, and each address is judged by the host as if it had been asked for. */
async function follow(url, { as, ctx }) {
  let at = url
  for (let redirects = 0; ; redirects += 1) {
    const answer = await fetchOnce(at, { as, ctx })
    const location = [301, 302, 303, 307, 308].includes(answer.status) ? answer.headers.location : undefined
    if (location === undefined) return { answer, final_url: at, redirects }
    if (redirects === maxRedirects) ctx.refuse('TOO_MANY_REDIRECTS', `${url} leads on after ${maxRedirects} redirects, to ${location.slice(0, 200)}.`)
    if (!URL.canParse(location, at)) ctx.refuse('REDIRECT_INVALID', `${at} leads to ${location.slice(0, 200)}, which is not an address.`)
    at = new URL(location, at).href
  }
}

async function fetchOnce(url, { as, ctx }) {
  const accept = as === 'json' ? 'application/json, */*;q=0.5' : 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.5'
  try {
    // Unpacked, an answer may be cut anywhere and still be read up to there.
    return await ctx.fetch(url, { headers: { accept, 'accept-encoding': 'identity' }, maxBytes: maxDownloadBytes, timeoutMs: hopTimeoutMs })
  } catch (error) {
    if (passing.includes(error.code)) ctx.refuse(error.code, error.message, { retryable: true })
    throw error
  }
}

function readJson({ bytes, status, cut: isCut }, { final_url, max_bytes, ctx }) {
  if (isCut || bytes.length > max_bytes) ctx.refuse('RESPONSE_TOO_LARGE', `${final_url} answers with ${isCut ? 'more than ' : ''}${bytes.length} bytes, and JSON cannot be cut; at most ${max_bytes} are taken (max_bytes).`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return ctx.refuse('RESPONSE_NOT_JSON', `${final_url} answers with status ${status}, and not with JSON; ask for text to see what it says.`)
  }
}

const textTypes = /^(text\/|application\/(json|xml|javascript|x-javascript|ecmascript|yaml|x-yaml|toml|x-sh|sql|graphql|x-www-form-urlencoded|x-ndjson|rtf)\b|[\w.-]+\/[\w.-]+\+(json|xml|yaml)\b|image\/svg)/i

function decode({ bytes, cut: isCut }, { type, final_url, ctx }) {
  const isBinary = type !== null && !textTypes.test(type) ? bytes.length > 0 && !/^application\/octet-stream\b/i.test(type) : false
  if (isBinary || bytes.subarray(0, 2048).includes(0)) ctx.refuse('RESPONSE_NOT_TEXT', `${final_url} answers with ${type ?? 'bytes'}, which is not text.`)
  const label = /charset\s*=\s*["']?([\w.:-]+)/i.exec(type ?? '')?.[1] ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(String.fromCharCode(...bytes.subarray(0, 1024)))?.[1]
  const text = decoderFor(label).decode(bytes)
  return isCut ? text.replace(/\uFFFD{1,3}$/, '') : text
}

function decoderFor(label) {
  try {
    return new TextDecoder(label ?? 'utf-8')
  } catch {
    return new TextDecoder('utf-8')
  }
}

function cut(text, maxBytes) {
  const bytes = new TextEncoder().encode(text)
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD{1,3}$/, '')
}
