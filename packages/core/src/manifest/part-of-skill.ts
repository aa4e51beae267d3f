const left = new Set(['.git', 'node_modules', '__pycache__', '.DS_Store', 'test', 'tests'])

/**
 * Whether a file or folder of this name belongs to the skill it lies in: an author's tests and what tools leave behind do
 * not. Whoever reads a folder asks here, since a bundle's digest depends on it.
 */
export function isPartOfSkill(name: string): boolean {
  return !left.has(name)
}
