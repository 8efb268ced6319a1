// Computes the KL term of the loss in float64.
import type { KlPenalty } from './kl_penalty.ts'

type Numbers = ArrayLike<number>

/** The estimate and its slope at d, written a second time so that klPenalty has something to agree
 * with. */
function estimate(base: string, d: number): [number, number] {
  switch (base) {
    case 'kl':
    case 'k1':
      return [d, 1]
    case 'abs':
      return [Math.abs(d), d > 0 ? 1 : d < 0 ? -1 : 0]
    case 'mse':
    case 'k2':
      return [0.5 * d ** 2, d]
    case 'low_var_kl':
    case 'k3': {
      const q = d > 20 ? -20 : d < -20 ? 20 : -d
      const k3 = Math.exp(q) - q - 1
      const passes = d >= -20 && d <= 20 && k3 >= -10 && k3 <= 10
      return [Math.max(-10, Math.min(10, k3)), passes ? 1 - Math.exp(q) : 0]
    }
    default:
      throw new RangeError(`expected a KL estimator, got ${base}`)
  }
}

/** The kernel kl_loss in f64: kld [tokens], d_log_probs [tokens] (what the kernel adds) and loss =
 * Σ loss_weights · kld. Tokens of weight 0 are not looked at. */
export function klLossRef(
  config: { readonly kl_loss_type: KlPenalty; readonly kl_loss_coef: number },
  batch: {
    readonly log_probs: Numbers
    readonly ref_log_prob: Numbers
    readonly loss_weights: Numbers
  },
): { loss: number; kld: Float64Array; d_log_probs: Float64Array } {
  const tokens = batch.log_probs.length
  const kld = new Float64Array(tokens)
  const d_log_probs = new Float64Array(tokens)
  const straightThrough = config.kl_loss_type.endsWith('+')
  const base = straightThrough ? config.kl_loss_type.slice(0, -1) : config.kl_loss_type
  let loss = 0
  for (let i = 0; i < tokens; i++) {
    const weight = batch.loss_weights[i]
    if (weight === 0) continue
    const d = batch.log_probs[i] - batch.ref_log_prob[i]
    const [value, slope] = estimate(base, d)
    kld[i] = value
    loss += weight * value
    d_log_probs[i] = config.kl_loss_coef * weight * (straightThrough ? d : slope)
  }
  return { loss, kld, d_log_probs }
}
