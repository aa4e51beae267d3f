import postgres from 'postgres'
import { readingPlans } from '../../../services/registry/src/store/connect.ts'

/** One statement that the product sent, with what it was given. */
export type Sent = { readonly query: string; readonly parameters: readonly unknown[] }

/** A database whose questions are kept, so that their plans can be looked at. */
export function capturing(url: string): { readonly sql: postgres.Sql; readonly sent: Sent[]; readonly close: () => Promise<void> } {
  const sent: Sent[] = []
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connection: { ...readingPlans, application_name: 'bench-questions' },
    debug: (_, query, parameters) => void sent.push({ query, parameters: [...(parameters as unknown[])] }),
  })
  return { sql, sent, close: () => sql.end() }
}

/** What is wrong with a plan: the raw table read from end to end, or days that lie outside the window. */
export type PlanFault = { readonly query: string; readonly fault: string }

type PlanNode = {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
  readonly 'Actual Loops'?: number
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
}

/** Looks at the plan of a statement; days of calls that it may read are given by their number. */
export async function faultsOf(sql: postgres.Sql, { query, parameters }: Sent, daysAllowed: number): Promise<PlanFault[]> {
  if (!/^\s*(select|with)/i.test(query) || !/\bcalls\b|call_payloads/.test(query)) return []
  const [row] = await sql.unsafe(`explain (analyze, format json) ${query}`, parameters as never[])
  const nodes: PlanNode[] = []
  const visit = (node: PlanNode): void => {
    nodes.push(node)
    node.Plans?.forEach(visit)
  }
  const [plan] = (row?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: PlanNode }[]
  if (plan !== undefined) visit(plan.Plan)
  const raw = nodes.filter((node) => /^(calls|call_payloads)_\d{8}$/.test(node['Relation Name'] ?? '') && node['Actual Loops'] !== 0)
  const days = new Set(raw.map((node) => node['Relation Name']?.slice(-8)))
  const short = query.replace(/\s+/g, ' ').slice(0, 160)
  return [
    ...raw
      .filter((node) => node['Node Type'] === 'Seq Scan' && !isEmpty(node))
      .map((node) => ({ query: short, fault: `sequential scan of ${node['Relation Name']}` })),
    ...(days.size > daysAllowed ? [{ query: short, fault: `${days.size} days read where ${daysAllowed} hold the window` }] : []),
  ]
}

// A day that has not begun is read whole, since there is nothing in it.
function isEmpty(node: PlanNode): boolean {
  return (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) === 0
}
