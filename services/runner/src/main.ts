import { readRunnerConfig } from './config.ts'
import { serveRunner } from './serve.ts'

/** Starts the runner; it ends by a signal, or when the registry that started it is gone. */
async function main(): Promise<void> {
  const runner = await serveRunner(readRunnerConfig(process.env))
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    runner.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  // Signals often go to a whole group of processes; a registry that has a runner decides itself when that goes.
  const hasParent = process.argv.includes('--with-parent')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (hasParent ? undefined : stop()))
  if (hasParent) process.stdin.on('end', stop).on('close', stop).resume()
}

main().catch((error: unknown) => {
  process.stderr.write(`repertoire runner: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
