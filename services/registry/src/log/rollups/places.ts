import { histogramBuckets, histogramShape } from '@repertoire/core'

/** SQL for the bucket of a duration in milliseconds: the same that the rule gives. */
export function placeOfDuration(column: string): string {
  const { firstEndMs, logRatio } = histogramShape
  return `case when ${column} > ${firstEndMs} then least(${histogramBuckets - 1}, ceil(ln(${column} / ${firstEndMs}::float8) / ${logRatio}::float8 - 1e-9)::int) else 0 end`
}
