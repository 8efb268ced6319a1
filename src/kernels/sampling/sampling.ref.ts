// Computes sampling with sorted arrays, in f64: the reference that the shader is tested against.
import { philox4x32, uniform24 } from './philox.ts'

/** How one token is drawn, with the kernel's names. */
export interface SampleOptions {
  readonly row_offset: number
  readonly position: number
  readonly temperature: number
  readonly top_k: number
  readonly top_p: number
  readonly seed_low: number
  readonly seed_high: number
  readonly step: number
}

/** softmax(logits / temperature) in f64. */
export function probabilities(logits: ArrayLike<number>, temperature: number): number[] {
  const z = Array.from(logits, (x) => x / temperature)
  const top = z.reduce((a, b) => Math.max(a, b))
  const sum = z.reduce((total, x) => total + Math.exp(x - top), 0)
  return z.map((x) => Math.exp(x - top) / sum)
}

/** Which tokens top-k, then top-p leave: 1 or 0 per token. Ties at a boundary are all kept. */
export function keptRef(
  logits: ArrayLike<number>,
  probs: readonly number[],
  { top_k, top_p }: Pick<SampleOptions, 'top_k' | 'top_p'>,
): Uint32Array {
  const sorted = Array.from(logits, (_, v) => v).sort((a, b) => logits[b] - logits[a])
  const k = top_k > 0 ? Math.min(top_k, logits.length) : logits.length
  const afterK = sorted.filter((v) => logits[v] >= logits[sorted[k - 1]])
  const mass = afterK.reduce((sum, v) => sum + probs[v], 0)
  let last = afterK.length - 1
  if (top_p < 1) {
    let reached = 0
    last = afterK.findIndex((v) => {
      reached += probs[v]
      return reached >= top_p * mass
    })
  }
  return Uint32Array.from(logits, (x) => Number(x >= logits[afterK[last]]))
}

/** One row's token, its log-prob and the entropy (nats, both of the full softmax). `margin` is how
 * far the uniform draw stays from the nearest edge of the CDF: where it is tiny, f32 may pick a
 * neighbour. */
export function sampleTokenRef(logits: ArrayLike<number>, row: number, o: SampleOptions) {
  const isGreedy = o.temperature === 0
  const probs = probabilities(logits, isGreedy ? 1 : o.temperature)
  const entropy = -probs.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0)
  let token = 0
  let margin = 1
  if (isGreedy) {
    for (let v = 1; v < logits.length; v++) if (logits[v] > logits[token]) token = v
  } else {
    const kept = keptRef(logits, probs, o)
    const mass = probs.reduce((sum, p, v) => sum + p * kept[v], 0)
    const [bits] = philox4x32(
      [o.step, o.row_offset + row, o.position, 0],
      [o.seed_low, o.seed_high],
    )
    let reached = 0
    token = -1
    probs.forEach((p, v) => {
      if (!kept[v]) return
      reached += p / mass
      margin = Math.min(margin, Math.abs(reached - uniform24(bits)))
      if (token < 0 && reached > uniform24(bits)) token = v
    })
  }
  return { token, log_prob: Math.log(probs[token]), entropy, margin }
}
