/** What a command can be used for, as lines to copy; shown below its help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}
