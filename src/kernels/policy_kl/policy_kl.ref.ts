// Computes the two divergences in f64, one token at a time.

type Numbers = ArrayLike<number>

/** log softmax of one state's logits, [V]. */
function logProbs(state: Numbers, weight: Numbers, vocabSize: number): Float64Array {
  const C = state.length
  const z = new Float64Array(vocabSize)
  for (let v = 0; v < vocabSize; v++)
    for (let c = 0; c < C; c++) z[v] += state[c] * weight[v * C + c]
  const top = z.reduce((a, b) => Math.max(a, b))
  const lse = top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0))
  return z.map((x) => x - lse)
}

/** Σ exp(a) (a - b): the divergence of log-probs b from log-probs a. */
const divergence = (a: Float64Array, b: Float64Array): number =>
  a.reduce((sum, logP, v) => sum + Math.exp(logP) * (logP - b[v]), 0)

/** kl_pq and kl_qp [tokens], nats, of hiddenP and hiddenQ [tokens, C] under weight [V, C]; 0
 * where mask is 0. */
export function policyKlRef(
  hiddenP: Float32Array | Float64Array,
  hiddenQ: Float32Array | Float64Array,
  weight: Numbers,
  mask: Numbers,
  s: { readonly tokens: number; readonly hidden_size: number; readonly vocab_size: number },
): { kl_pq: Float64Array; kl_qp: Float64Array } {
  const kl_pq = new Float64Array(s.tokens)
  const kl_qp = new Float64Array(s.tokens)
  for (let i = 0; i < s.tokens; i++) {
    if (mask[i] === 0) continue
    const [p, q] = [hiddenP, hiddenQ].map((hidden) => {
      const state = hidden.subarray(i * s.hidden_size, (i + 1) * s.hidden_size)
      return logProbs(state, weight, s.vocab_size)
    })
    kl_pq[i] = divergence(p, q)
    kl_qp[i] = divergence(q, p)
  }
  return { kl_pq, kl_qp }
}
