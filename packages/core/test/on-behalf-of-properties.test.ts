import {
  authorize,
  mayReadRow,
  narrowTo,
  permit,
  requireRole,
  seesEverything,
  tryAdmit,
  type Asking,
  type Caller,
  type GrantRecord,
  type SkillRecord,
} from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check, numRuns, patienceMs } from './check-property.ts'
import { skillOf, versionOf } from './skill-fixture.ts'

const nowMs = 100
const tag = fc.constantFrom('orders', 'orders:read', 'fs', 'fs:read', 'smtp', 'network')
const pattern = fc.oneof({ weight: 3, arbitrary: tag }, fc.constantFrom('*', 'orders:*', 'fs:*'))
const rule = fc.tuple(pattern, fc.constantFrom(false, false, false, true), fc.constantFrom(null, null, nowMs, nowMs + 1))
const heldBy = (side: string): fc.Arbitrary<GrantRecord[]> =>
  fc
    .array(rule, { maxLength: 5, size: 'max' })
    .map((rules) => rules.map(([text, deny, expiresAt], at) => ({ id: `${side}${at}`, agentId: side, pattern: text, deny, expiresAt })))
const role = fc.constantFrom<Caller['role']>('agent', 'publisher', 'operator', 'auditor', 'admin', 'system')
const caller = fc
  .record({ role, team: fc.constantFrom(null, 'owners'), grants: heldBy('agent') })
  .map((some): Caller => ({ id: 'bot', tenant: null, domains: [], keyId: null, onBehalfOf: null, ...some }))
const user = heldBy('user').map((grants) => ({ subject: 'ana', grants }))
const tags = fc.uniqueArray(tag, { maxLength: 2 })
const asking = (asker: Caller): Asking => ({ caller: asker, nowMs, standing: [], units: { agent: asker.id } })
const owned = (skill: SkillRecord): SkillRecord => ({ ...skill, team: 'owners' })

describe('who asks for a user', { timeout: patienceMs }, () => {
  it('may call, and see, what the agent and the user both may, whatever its role or team; the rule says whose it was', () => {
    const seen = { both: 0, agent: 0, user: 0 }
    check([caller, user, tags], (agent, asked, permission) => {
      const version = versionOf({ version: '1.0.0', permission })
      const skill = owned(skillOf({ versions: [{ version: '1.0.0', permission }], stable: { '1': '1.0.0' } }))
      const [own, users] = [permit(agent.grants, permission, nowMs), permit(asked.grants, permission, nowMs)]
      const found = authorize(narrowTo(agent, asked), { skill, version }, nowMs)
      expect([found.mayCall, found.maySee, found.permit.allow]).toEqual(Array(3).fill(own.allow && users.allow))
      const side = found.mayCall ? 'both' : own.allow ? 'user' : 'agent'
      expect([found.judged, found.permit.ruleId]).toEqual(side === 'user' ? ['user', `user:${users.ruleId}`] : ['agent', own.ruleId])
      expect(found.permit.missing).toEqual(side === 'user' ? users.missing : own.missing)
      seen[side] += 1
    })
    console.log(`${numRuns} callers for a user as the model has them: ${JSON.stringify(seen)}`)
    expect(Object.values(seen).every((count) => count > numRuns / 20)).toBe(true)
  })
  it('is given versions alone that both may call, also where the agent would get a canary', () => {
    let given = 0
    const line = fc.tuple(tags, tags, fc.boolean())
    check([caller, user, line], (agent, asked, [first, second, isCandidate]) => {
      const versions = [
        { version: '1.1.0', permission: second, status: isCandidate ? ('candidate' as const) : ('released' as const) },
        { version: '1.0.0', permission: first },
      ]
      const rollouts = isCandidate ? [{ candidate: '1.1.0', previousStable: '1.0.0', basisPoints: 10_000 }] : []
      const skill = owned(skillOf({ versions, stable: { '1': isCandidate ? '1.0.0' : '1.1.0' }, rollouts }))
      const narrowed = tryAdmit(skill, [], asking(narrowTo(agent, asked)))
      if (narrowed === undefined) return
      given += 1
      const { permission } = narrowed.resolved.version.manifest
      expect([permit(agent.grants, permission, nowMs).allow, permit(asked.grants, permission, nowMs).allow]).toEqual([true, true])
    })
    expect(given).toBeGreaterThan(numRuns / 5)
  })
  it('manages nothing and sees nothing beyond tags, and reads the rows of that user alone', () => {
    check([caller, user], (agent, asked) => {
      const narrowed = narrowTo(agent, asked)
      expect(seesEverything(narrowed)).toBe(false)
      for (const needed of ['publisher', 'operator', 'auditor', 'admin'] as const)
        expect(() => requireRole(narrowed, needed)).toThrow(expect.objectContaining({ code: 'ROLE_REQUIRED' }))
      const rows = ['bot', 'other'].flatMap((agent_id) => [null, 'ana', 'ben'].map((on_behalf_of) => ({ agent_id, on_behalf_of })))
      expect(rows.filter((row) => mayReadRow(narrowed, row))).toEqual([{ agent_id: 'bot', on_behalf_of: 'ana' }])
      const own = rows.filter((row) => mayReadRow({ ...agent, role: 'agent' }, row))
      expect(own.map((row) => row.agent_id)).toEqual(['bot', 'bot', 'bot'])
    })
  })
})
