import { toScript } from './to-script.js'

const AsyncFunction = (async () => undefined).constructor

/**
 * Lets the engine compile JavaScript, and never runs it: a function is made of the text and not called. Imports and exports,
 * which no function may hold, are checked by their form and taken out before. What only linking finds is not found here.
 */
export function checkJavaScript(text, path) {
  const found = { language: 'javascript', method: 'compile' }
  const isModule = path.toLowerCase().endsWith('.mjs')
  const plain = text.replace(/^\uFEFF/, '').replace(/^#!/, '//')
  const asScript = isModule ? undefined : problemOf(plain)
  if (asScript === null) return { ...found, ok: true }
  const { script, hasModuleSyntax } = toScript(plain)
  const checked = isModule || hasModuleSyntax ? `'use strict';${script}` : plain
  const problem = problemOf(checked)
  if (problem === null) return { ...found, ok: true }
  const line = lineOf(checked, problem)
  return { ...found, ok: false, message: problem, ...(line === undefined ? {} : { line }) }
}

/** What the engine says against a text; null when it compiles. */
function problemOf(text) {
  for (const Kind of [AsyncFunction, Function]) {
    try {
      void new Kind(text)
      return null
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      // Only scripts of old may call something `await`, and those are no async functions.
      if (Kind === Function || !/await/.test(text)) return error.message.slice(0, 200)
    }
  }
}

// An error lies before a place when nothing that could follow the place makes another error of it. The line is that of the
// first such place; engines tell lines for files only.
const endings = ['', '\n)', '\n]', '\n}', '\n`', '\n@', '\n;0', '\n*/']

function lineOf(text, problem) {
  const lines = text.split('\n')
  const isBefore = (count) => endings.every((ending) => problemOf(lines.slice(0, count).join('\n') + ending) === problem)
  let [low, high] = [1, lines.length]
  if (!isBefore(high)) return problem.includes('end of input') ? lines.length : undefined
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isBefore(middle)) high = middle
    else low = middle + 1
  }
  return low
}
