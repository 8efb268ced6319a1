/** Draws seeded values in [-1, 1), so that every run computes on the same numbers. (mulberry32) */
export function seededValues(count: number, seed: number): Float32Array<ArrayBuffer> {
  let state = seed
  return Float32Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1
  })
}
