/** `out` [rows, vocab_size] with part [rows, cols] from column firstId on: a new array. */
export function placeLogitsRef(
  part: ArrayLike<number>,
  cols: number,
  out: ArrayLike<number>,
  vocab_size: number,
  firstId: number,
): Float64Array {
  const placed = Float64Array.from(out)
  for (let i = 0; i < part.length; i++)
    placed[Math.floor(i / cols) * vocab_size + firstId + (i % cols)] = part[i]
  return placed
}
