import type { Repertoire } from '@repertoire/sdk'
import type { Command } from 'commander'
import { connect, type Connected } from './connect.ts'
import { readEnvironment } from './environment.ts'
import { exits, type Exit } from './exit-codes.ts'
import { createPrinter, type Printer } from './print.ts'
import { askLine, canAnswer } from './terminal.ts'

/** The options every command takes. */
export type GlobalOptions = { readonly url?: string; readonly keyFile?: string; readonly json?: boolean; readonly quiet?: boolean }

/** What a command has in hand: how it speaks and asks, the way to the registry, and how it ends other than well without an error. */
export type Context = {
  readonly print: Printer
  readonly connect: () => Connected
  readonly registry: () => Repertoire
  /** Asks whoever sits there and gives back what was typed; undefined where nobody does. */
  readonly ask: ((question: string) => Promise<string>) | undefined
  readonly end: (exit: Exit) => void
}

/** Makes the context of a command from the options it was given. */
export function contextOf(command: Command): Context {
  const options = command.optsWithGlobals<GlobalOptions>()
  const print = createPrinter(options)
  let connected: Connected | undefined
  // Several parts of a command may ask for the way; it is the same, and told once.
  const connectNow = (): Connected => {
    if (connected !== undefined) return connected
    connected = connect(options, readEnvironment())
    if (connected.remark !== undefined) print.note(`warning: ${connected.remark}`)
    return connected
  }
  return {
    print,
    connect: connectNow,
    registry: () => connectNow().registry,
    ask: canAnswer() ? askLine : undefined,
    end: (exit) => {
      process.exitCode = exits[exit].code
    },
  }
}

/** Makes the action of a command out of what it does with its context, its arguments and its options. */
export function withContext<Args extends readonly unknown[], Options>(
  work: (context: Context, args: Args, options: Options) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  // Commander gives the arguments one by one, then the options, then the command.
  return (...given) => work(contextOf(given.at(-1) as Command), given.slice(0, -2) as unknown as Args, given.at(-2) as Options)
}
