const maxLines = 400
const maxBytes = 48 * 1024
const chunkBytes = 1024 * 1024
const maxFileBytes = 64 * 1024 * 1024
const newline = 10

/** Reads lines of a UTF-8 file, at most 400 lines or 48 KB at once, and says where to read on. */
export async function run({ mount, path, offset = 1, lines = maxLines, skip_bytes = 0 }, ctx) {
  refuseAbsolute(path, ctx)
  const chosen = mount ?? (await defaultMount(ctx))
  const files = ctx.files(chosen)
  const file = await findLine(files, { path, offset, ctx })
  if (file.start === undefined || (skip_bytes > 0 && file.start + skip_bytes >= file.end)) {
    ctx.refuse('OFFSET_PAST_END', `${path} has ${file.totalLines} lines; ${skip_bytes > 0 ? `byte ${skip_bytes} of ` : ''}line ${offset} is not there.`)
  }
  const start = file.start + skip_bytes
  const read = await files.read(path, { offset: start, maxBytes })
  refuseChange(read.total, file.totalBytes, { path, ctx })
  const shown = cut(read.bytes, { lines, reachesEnd: start + read.bytes.length >= read.total })
  const isRest = start + shown.bytes.length >= read.total
  return {
    mount: chosen,
    path,
    text: decode(shown.bytes, { path, ctx }),
    first_line: offset,
    last_line: shown.isPartOfLine ? offset : offset + shown.lines - 1,
    total_lines: file.totalLines,
    total_bytes: file.totalBytes,
    truncated: !isRest,
    next_offset: isRest ? null : offset + shown.lines,
    next_skip_bytes: isRest || !shown.isPartOfLine ? 0 : skip_bytes + shown.bytes.length,
    ...(isRest ? {} : { note: sayCut({ offset, skip_bytes, shown, file }) }),
  }
}

function refuseAbsolute(path, ctx) {
  if (!/^[/\\]|^[A-Za-z]:[/\\]/.test(path)) return
  const relative = path.replace(/^[A-Za-z]:/, '').replace(/^[/\\]+/, '')
  ctx.refuse('PATH_NOT_RELATIVE', `A path begins at its mount: write ${relative || '.'} instead of ${path}.`)
}

async function defaultMount(ctx) {
  const readable = (await ctx.mounts()).filter((mount) => mount.readable !== false)
  return readable.length === 1 ? readable[0].name : 'workspace'
}

// Goes over the whole file in pieces, so that its length can be told, and keeps none of it.
async function findLine(files, { path, offset, ctx }) {
  let [at, newlines, last] = [0, 0, newline]
  let start = offset === 1 ? 0 : undefined
  let end
  for (;;) {
    const { bytes, total } = await files.read(path, { offset: at, maxBytes: chunkBytes })
    if (at === 0) refuseUnreadable(bytes, { total, path, ctx })
    for (let found = bytes.indexOf(newline); found >= 0; found = bytes.indexOf(newline, found + 1)) {
      newlines += 1
      if (newlines === offset - 1 && at + found + 1 < total) start = at + found + 1
      if (newlines === offset) end = at + found + 1
    }
    if (bytes.length > 0) last = bytes[bytes.length - 1]
    at += bytes.length
    if (at >= total || bytes.length === 0) {
      refuseChange(total, at, { path, ctx })
      return { start, end: end ?? total, totalLines: newlines + (last === newline ? 0 : 1), totalBytes: total }
    }
  }
}

function refuseUnreadable(bytes, { total, path, ctx }) {
  if (total > maxFileBytes) ctx.refuse('FILE_TOO_LARGE', `${path} has ${total} bytes; files of more than ${maxFileBytes} are not read.`)
  if (bytes.subarray(0, 8192).includes(0)) ctx.refuse('FILE_NOT_TEXT', `${path} holds NUL bytes, so it is not a text file.`)
}

function refuseChange(now, before, { path, ctx }) {
  if (now !== before) ctx.refuse('FILE_CHANGED', `${path} was changed while it was read; read it again.`, { retryable: true })
}

/** The whole lines that fit; of a line that is longer than all that may be shown, its beginning. */
function cut(bytes, { lines, reachesEnd }) {
  let [end, count] = [0, 0]
  while (count < lines) {
    const found = bytes.indexOf(newline, end)
    if (found < 0) break
    end = found + 1
    count += 1
  }
  if (count < lines && reachesEnd && end < bytes.length) return { bytes, lines: count + 1, isPartOfLine: false }
  if (count > 0 || bytes.length === 0) return { bytes: bytes.subarray(0, end), lines: count, isPartOfLine: false }
  return { bytes: bytes.subarray(0, wholeCharacters(bytes)), lines: 0, isPartOfLine: true }
}

// A character of UTF-8 has up to four bytes, and the first one says how many.
function wholeCharacters(bytes) {
  let first = bytes.length - 1
  while (first > 0 && (bytes[first] & 0xc0) === 0x80) first -= 1
  const length = bytes[first] >= 0xf0 ? 4 : bytes[first] >= 0xe0 ? 3 : bytes[first] >= 0xc0 ? 2 : 1
  return first + length > bytes.length ? first : bytes.length
}

function decode(bytes, { path, ctx }) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // What follows is the answer to both.
  }
  return ctx.refuse('FILE_NOT_TEXT', `${path} is not UTF-8 text here: it is binary, or in another encoding.`)
}

function sayCut({ offset, skip_bytes, shown, file }) {
  if (shown.isPartOfLine) return `Line ${offset} has ${file.end - file.start} bytes; shown are ${shown.bytes.length}. Read on with offset ${offset} and skip_bytes ${skip_bytes + shown.bytes.length}.`
  return `Shown are lines ${offset} to ${offset + shown.lines - 1} of ${file.totalLines}. Read on with offset ${offset + shown.lines}.`
}
