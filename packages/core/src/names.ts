import { maxSkillNameLength, skillNamePattern } from '@repertoire/contract'

/** The form under which a skill is one and the same: `_` and `-` are one letter, and case does not count. */
export function nameKey(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** Whether a text is a skill's name. */
export function isSkillName(name: string): boolean {
  return name.length <= maxSkillNameLength && skillNamePattern.test(name)
}

/** What is left of a name when look-alike letters (`0/o`, `1/l`, `rn/m`) are made one. */
export function lookAlikeKey(name: string): string {
  return nameKey(name).replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('rn', 'm')
}

/** The nearest of some names within two edits, for a suggestion; undefined when none is near. */
export function nearestName(name: string, among: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = 3
  for (const candidate of among) {
    if (Math.abs(candidate.length - name.length) > 2) continue
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** Whether a text is a UUID, which is what our ids are: the database takes nothing else for one. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
