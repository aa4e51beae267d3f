import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { exits } from '../src/exit-codes.ts'
import { createProgram } from '../src/program.ts'

const program = createProgram({ isJson: false })
const leaves = (command: Command): Command[] => (command.commands.length === 0 ? [command] : command.commands.flatMap(leaves))
const nameOf = (command: Command): string => (command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`)

function fullHelp(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) })
  command.outputHelp()
  return text
}

describe('the help', () => {
  it('has a command for everything the registry offers a person', () => {
    expect(program.commands.map((command) => command.name())).toEqual([
      'check',
      'publish',
      'import',
      'release',
      'canary',
      'promote',
      'rollback',
      'revert',
      'deprecate',
      'yank',
      'block',
      'unyank',
      'list',
      'show',
      'resolve',
      'dependents',
      'call',
      'calls',
      'tail',
      'stats',
      'export',
      'result',
      'replay',
      'cancel',
      'settle',
      'self',
      'agents',
      'keys',
      'grant',
      'deny',
      'grants',
      'revoke',
      'quotas',
      'connections',
      'transfer',
      'explain',
      'audit',
      'admin-key',
      'spool',
    ])
  })
  it.each(leaves(program).map((command) => [nameOf(command), command] as const))(
    'of %s says what it does and shows how',
    (name, command) => {
      const text = fullHelp(command)
      expect(command.description()).toMatch(/\.$/)
      const shown = text
        .slice(text.indexOf('\nExamples:\n'))
        .split('\n')
        .filter((line) => line.startsWith('  '))
      expect(shown.length).toBeGreaterThanOrEqual(1)
      expect(shown.length).toBeLessThanOrEqual(3)
      for (const line of shown) expect(line).toContain(name)
    },
  )
  it.each(
    leaves(program)
      .filter((command) => command.options.some((option) => option.long === '--if-match'))
      .map((command) => [nameOf(command), command] as const),
  )('of %s has what every change of what agents get takes', (_, command) => {
    const taken = command.options.map((option) => option.long)
    expect(taken).toEqual(expect.arrayContaining(['--reason', '--dry-run', '--yes', '--wait', '--no-wait', '--if-match']))
    expect(command.options.find((option) => option.long === '--reason')?.mandatory).toBe(true)
  })
  it('lists every exit code and every variable it reads, and no option takes a key', () => {
    const text = fullHelp(program)
    for (const { code, meaning } of Object.values(exits)) expect(text).toContain(`${String(code).padStart(3)}  ${meaning}`)
    for (const name of ['REPERTOIRE_URL', 'REPERTOIRE_KEY ', 'REPERTOIRE_KEY_FILE']) expect(text).toContain(name)
    expect(
      leaves(program)
        .concat(program)
        .flatMap((command) => command.options.map((option) => option.long)),
    ).not.toContain('--key')
  })
})
