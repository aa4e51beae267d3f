import { readFileSync } from 'node:fs'
import type postgres from 'postgres'

const tickMs = 10

/** The CPU time that the server's processes of some name have used, in milliseconds: on a machine that others use too, it says more than the clock. */
export async function serverCpuMs(sql: postgres.Sql, application: string): Promise<number> {
  const processes = await sql<{ pid: number }[]>`select pid from pg_stat_activity where application_name = ${application}`
  return processes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}
