import { ConfigError, readConfig } from './config.ts'
import { drainSpool } from './start/drain-spool.ts'
import { makeAdminKey } from './start/write-admin-key.ts'
import { startRegistry, StartStopped, type RunningRegistry } from './start/start-registry.ts'

const hangingStartMs = 5000

/** Starts the registry and ends it in order; whatever keeps it from starting is one sentence and a non-zero exit. */
async function main(): Promise<void> {
  const { config, warnings } = readConfig(process.env, process.cwd())
  for (const warning of warnings) process.stderr.write(`repertoire: ${warning}\n`)
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'admin-key' && rest.length === 0) {
    process.stdout.write(`${await makeAdminKey(config)}\n`)
    process.exit(0)
  }
  const [what, directory, ...more] = rest
  if (command === 'spool' && what === 'drain' && directory !== undefined && more.length === 0) {
    const say = (line: string): void => void process.stderr.write(`repertoire: ${line}\n`)
    process.stdout.write(`${await drainSpool(config, { directory, say })}\n`)
    process.exit(0)
  }
  if (command !== undefined)
    throw new ConfigError(
      `${command} is nothing this can do: without a word it starts the registry, with admin-key it makes a new admin key, with spool drain and a data directory it brings the calls that lie there to the database.`,
    )
  const now: { registry?: RunningRegistry; isStopping: boolean } = { isStopping: false }
  // Signals are heard from the first moment: a start that is cut short takes down what it had brought up.
  const stop = (signal: string): void => {
    if (now.isStopping) return
    now.isStopping = true
    process.stdout.write(`\nrepertoire: ${signal}, ${now.registry === undefined ? 'stopping the start' : 'finishing running calls'}\n`)
    if (now.registry !== undefined) end(now.registry)
    // A start that waits for something that hangs has nothing to finish.
    else setTimeout(() => process.exit(0), hangingStartMs).unref()
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  const registry = await startRegistry(config, () => now.isStopping)
  if (now.isStopping) return end(registry)
  now.registry = registry
  process.stdout.write(`${registry.banner}\n`)
}

function end(registry: RunningRegistry): void {
  registry.stop().then(
    () => process.exit(0),
    (error: unknown) => fail(error, 1),
  )
}

function fail(error: unknown, code: number): void {
  process.stderr.write(`repertoire: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(code)
}

main().catch((error: unknown) => {
  if (error instanceof StartStopped) process.exit(0)
  fail(error, error instanceof ConfigError ? 2 : 1)
})
