/** A number of things, in words. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return number === 1 ? `1 ${singular}` : `${number} ${plural}`
}
