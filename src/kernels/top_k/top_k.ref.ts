/** Finds the k likeliest ids of softmax of each row of logits [rows, vocabSize] and their
 * probabilities, ties to the smaller id; in f64. */
export function topKRef(
  logits: ArrayLike<number>,
  vocabSize: number,
  k: number,
): { ids: Uint32Array; probs: Float64Array } {
  const rows = logits.length / vocabSize
  const ids = new Uint32Array(rows * k)
  const probs = new Float64Array(rows * k)
  for (let r = 0; r < rows; r++) {
    const row = Array.from({ length: vocabSize }, (_, v) => logits[r * vocabSize + v])
    const order = row.map((_, v) => v).sort((a, b) => row[b] - row[a] || a - b)
    const top = row[order[0]]
    const sum = row.reduce((total, x) => total + Math.exp(x - top), 0)
    order.slice(0, k).forEach((v, i) => {
      ids[r * k + i] = v
      probs[r * k + i] = Math.exp(row[v] - top) / sum
    })
  }
  return { ids, probs }
}
