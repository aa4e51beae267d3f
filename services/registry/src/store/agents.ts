import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { AgentRow, Page } from '../stored.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { agents, keys } from './tables/access.ts'

const columns = {
  id: agents.id,
  name: agents.name,
  role: agents.role,
  team: agents.team,
  tenant: agents.tenant,
  domains: agents.domains,
  disabled: agents.disabled,
  createdAt: agents.createdAt,
}

/** Agents inside a transaction. */
export function agentsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['agents'] {
  return {
    lock: async (id) => (await tx.select(columns).from(agents).where(eq(agents.id, id)).for('update'))[0],
    insert: async ({ at, by, ...agent }) => {
      const inserted = await tx
        .insert(agents)
        .values({ ...agent, domains: [...agent.domains], createdAt: at, createdBy: by, revision: await revision() })
        .onConflictDoNothing()
        .returning({ id: agents.id })
      return inserted.length === 1
    },
    update: async ({ id, name, disabled, team, domains }) => {
      await tx
        .update(agents)
        .set({ name, disabled, team, domains: [...domains], revision: await revision() })
        .where(eq(agents.id, id))
    },
    anyKeyOfRole: async (role) =>
      (
        await tx
          .select({ id: keys.id })
          .from(keys)
          .innerJoin(agents, eq(agents.id, keys.agentId))
          .where(and(eq(agents.role, role), isNull(keys.revokedAt)))
          .limit(1)
      ).length > 0,
  }
}

/** A page of agents, by id. */
export function listAgents(db: Drizzle, page: Page): Promise<AgentRow[]> {
  return db
    .select(columns)
    .from(agents)
    .where(page.after === undefined ? undefined : gt(agents.id, page.after))
    .orderBy(asc(agents.id))
    .limit(page.limit)
}
