import { chmod, mkdtemp } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../../../services/registry/src/postgres/embedded.ts'
import { migrate } from '../../../services/registry/src/store/migrate.ts'
import { measureIngest } from './ingest.ts'
const folder = await mkdtemp('/tmp/prof/ing-')
await chmod(folder, 0o755)
const server = await startEmbeddedPostgres({ dataDir: folder })
await migrate(server.url, async () => undefined)
for (let i = 0; i < 4; i++) {
  const r = await measureIngest(server.url, 60_000)
  console.log(
    Math.round((r.rows / r.drainMs) * 1000),
    'rows/s',
    'node',
    ((r.nodeCpuMs * 1000) / r.rows).toFixed(0),
    'server',
    ((r.serverCpuMs * 1000) / r.rows).toFixed(0),
  )
}
await server.stop()
process.exit(0)
