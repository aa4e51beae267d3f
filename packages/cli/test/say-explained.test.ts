import type { AccessExplained } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'
import { sayExplained } from '../src/say-explained.ts'

type Tag = AccessExplained['tags'][number]
const rule = (pattern: string, deny = false): Tag['rule'] => ({
  id: 'g1',
  pattern,
  deny,
  expires_at: null,
  granted_by: 'admin',
  reason: 'for a reason',
})
const tag = (more: Partial<Tag>): Tag => ({
  tag: 'smtp',
  allowed: true,
  high_risk: true,
  judged: 'agent',
  rule: rule('smtp'),
  user_rule: null,
  ...more,
})
const explained = (more: Partial<AccessExplained>): string =>
  sayExplained(
    {
      agent: 'desk-bot',
      on_behalf_of: null,
      disabled: false,
      skill: 'send-email',
      private: false,
      version: '1.0.0',
      problem: null,
      may_call: true,
      may_see: true,
      rule_id: 'g1',
      judged: 'agent',
      tags: [tag({})],
      classes: [],
      ...more,
    },
    undefined,
  )

describe('an explanation', () => {
  it('says whether an agent may call a skill, and by which grant', () => {
    const text = explained({})
    expect(text).toMatch(/^desk-bot may call send-email 1\.0\.0\n/)
    expect(text).toMatch(/smtp \(high risk\) +allowed +smtp +admin +for a reason/)
  })
  it.each([
    ['the user is denied it', tag({ allowed: false, judged: 'user', user_rule: rule('smtp', true) }), /denied to ana +deny smtp/],
    ['the user was never granted it', tag({ allowed: false, judged: 'user' }), /not granted to ana/],
    ['the agent lacks it', tag({ allowed: false, rule: null, user_rule: rule('smtp') }), /not granted to desk-bot/],
    ['both hold it', tag({ user_rule: rule('smtp') }), /allowed +smtp/],
  ])('says for a user whose rule decides: %s', (_, of, said) => {
    const text = explained({ on_behalf_of: 'ana', may_call: of.allowed, tags: [of] })
    expect(text).toMatch(/^desk-bot, asking for ana, may (not )?call send-email/)
    expect(text).toMatch(said)
  })
  it('names the classes of tags that the agent reaches', () => {
    const of = (
      tag_class: 'private_data' | 'untrusted_content' | 'way_out',
      ...patterns: string[]
    ): AccessExplained['classes'][number] => ({
      tag_class,
      grants: patterns.map((pattern, at) => ({ id: `g${at}`, pattern })),
    })
    expect(explained({ tags: [], classes: [of('private_data', 'fs:read', 'fs:read')] })).toContain(
      '\nit needs no tag\ndesk-bot reaches private data (fs:read)\n',
    )
    expect(
      explained({ classes: [of('private_data', 'fs:read'), of('untrusted_content', 'network'), of('way_out', 'network', 'smtp')] }),
    ).toMatch(/\ndesk-bot reaches private data \(fs:read\), untrusted content \(network\), a way out \(network, smtp\): all at once\n$/)
  })
  it('says that the agent or the user is disabled', () => {
    expect(explained({ on_behalf_of: 'ana', disabled: true, may_call: false })).toContain(': the agent or the user is disabled\n')
  })
})
