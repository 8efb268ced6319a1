// Says how long rows are, as a histogram and in words.

export interface LengthBin {
  /** Tokens, both included. */
  readonly from: number
  readonly to: number
  readonly count: number
}

/** At most `most` bins of one width from the shortest to the longest; none of no lengths. */
export function lengthBins(lengths: readonly number[], most: number): readonly LengthBin[] {
  if (lengths.length === 0) return []
  let [low, high] = [Number.POSITIVE_INFINITY, 0]
  for (const length of lengths) {
    low = Math.min(low, length)
    high = Math.max(high, length)
  }
  const width = Math.ceil((high - low + 1) / most)
  const counts = new Array<number>(Math.floor((high - low) / width) + 1).fill(0)
  for (const length of lengths) counts[Math.floor((length - low) / width)]++
  return counts.map((count, i) => {
    const from = low + i * width
    return { from, to: Math.min(high, from + width - 1), count }
  })
}

/** The length that half of the rows do not exceed. */
export function medianLength(lengths: readonly number[]): number {
  const sorted = Float64Array.from(lengths).sort()
  return sorted[(sorted.length - 1) >> 1] ?? 0
}
