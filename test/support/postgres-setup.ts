import { PostgreSqlContainer } from '@testcontainers/postgresql'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../services/registry/src/postgres/embedded.ts'
import { migrate } from '../../services/registry/src/store/migrate.ts'
import { choosePostgres } from './choose-postgres.ts'
import { dockerAnswers, imageIsThere, postgresImage } from './docker.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

/** The database every test file clones. */
const template = 'repertoire_template'

/** Starts one real Postgres for all integration tests and migrates the template that each file clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env['TEST_DATABASE_URL']
  const answers = (url ?? '') === '' && dockerAnswers()
  const choice = choosePostgres({ url, dockerAnswers: answers, imageIsThere: answers && imageIsThere() })
  const server =
    choice.kind === 'given'
      ? { url: choice.url, stop: async () => undefined }
      : choice.kind === 'container'
        ? await startContainer()
        : await startOwn()
  const admin = postgres(server.url, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`drop database if exists ${template}`)
  await admin.unsafe(`create database ${template}`)
  await admin.end()
  await migrate(databaseUrl(server.url, template), async () => undefined)
  project.provide('postgresUrl', server.url)
  return server.stop
}

/** The address of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}

async function startContainer(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const container = await new PostgreSqlContainer(postgresImage).start()
  return { url: container.getConnectionUri(), stop: async () => void (await container.stop()) }
}

async function startOwn(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'repertoire-test-postgres-'))
  const server = await startEmbeddedPostgres({ dataDir, fast: true })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
