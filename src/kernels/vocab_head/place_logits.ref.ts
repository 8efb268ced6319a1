/** Puts part [rows, cols] into `out` [rows, vocabSize] from column firstId on: a new array. */
export function placeLogitsRef(
  part: ArrayLike<number>,
  cols: number,
  out: ArrayLike<number>,
  vocabSize: number,
  firstId: number,
): Float64Array {
  const placed = Float64Array.from(out)
  for (let i = 0; i < part.length; i++)
    placed[Math.floor(i / cols) * vocabSize + firstId + (i % cols)] = part[i]
  return placed
}
