import { spawnSync } from 'node:child_process'

/** The image that tests run in. */
export const postgresImage = 'postgres:18-alpine'

const pullDeadlineMs = 120_000

/** Whether a Docker engine answers here. */
export function dockerAnswers(): boolean {
  return spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 5000, stdio: 'ignore' }).status === 0
}

/** Whether the image is here, or can be brought here. */
export function imageIsThere(): boolean {
  if (spawnSync('docker', ['image', 'inspect', postgresImage], { timeout: 5000, stdio: 'ignore' }).status === 0) return true
  return spawnSync('docker', ['pull', '--quiet', postgresImage], { timeout: pullDeadlineMs, stdio: 'ignore' }).status === 0
}
