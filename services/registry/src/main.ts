import { readConfig, ConfigError } from './config.ts'
import { startRegistry } from './start/start-registry.ts'

/** Starts the registry and ends it in order; whatever keeps it from starting is one sentence and a non-zero exit. */
async function main(): Promise<void> {
  const { config, warnings } = readConfig(process.env, process.cwd())
  for (const warning of warnings) process.stderr.write(`repertoire: ${warning}\n`)
  const registry = await startRegistry(config)
  process.stdout.write(`${registry.banner}\n`)
  let stopping = false
  const stop = (signal: string): void => {
    if (stopping) return
    stopping = true
    process.stdout.write(`\nrepertoire: ${signal}, finishing running calls\n`)
    registry.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`repertoire: stopping failed: ${say(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
}

function say(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

main().catch((error: unknown) => {
  process.stderr.write(`repertoire: ${say(error)}\n`)
  process.exit(error instanceof ConfigError ? 2 : 1)
})
