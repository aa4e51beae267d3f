import { describe, expect, it } from 'vitest'
import { checkedOf, readShippedSkills } from './shipped-skills.ts'

const skills = await readShippedSkills()
const skill = skills.find(({ folder }) => folder === 'handle-order')
const playbook = checkedOf(skill)

describe('handle-order', () => {
  it('is a playbook that needs no permission and is not core', () => {
    expect(playbook.kind).toBe('playbook')
    expect(playbook.manifest).toMatchObject({ permission: [], core: false, unlocks: ['query-order', 'query-refund', 'send-email'] })
  })

  it('unlocks skills that we ship, and speaks of each of them', () => {
    const names = skills.map(({ checked }) => checked?.manifest.name)
    expect(playbook.manifest.unlocks.filter((name) => !names.includes(name))).toEqual([])
    expect(playbook.manifest.unlocks.filter((name) => !playbook.instructions.includes(`\`${name}\``))).toEqual([])
  })

  it('links only to files that lie beside it, and to all of them', () => {
    const links = [...playbook.instructions.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1])
    expect(links).toEqual([...(skill?.files.keys() ?? [])].filter((path) => path !== 'SKILL.md'))
  })
})
