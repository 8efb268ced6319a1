// Computes the logit lens in float64 and plain loops, from forwardRef's cache: the reference that
// model/internals/lens.ts is tested against.
import { topKRef } from '../../kernels/top_k/top_k.ref.ts'
import type { ModelConfig } from '../layout/config.ts'
import { logSoftmax, type RefArrays, rmsNorm } from '../transformer/operations.ref.ts'
import { logitsRef } from '../transformer/policy.ref.ts'
import type { RefCache } from '../transformer/transformer.ref.ts'

/** As LensNumbers, of a cache of one row without padding. */
export function lensRef(
  config: ModelConfig,
  params: RefArrays,
  { batch, hidden_states }: RefCache,
  k: number,
) {
  const { hidden_size: C, vocab_size: V, rms_norm_eps } = config
  const S = batch.width
  const readout = (states: readonly Float64Array[]) => {
    const at = states.length
    const entropy = new Float64Array(S * at)
    const next_prob = new Float64Array(S * at).fill(Number.NaN)
    const ids = new Uint32Array(S * at * k)
    const probs = new Float64Array(S * at * k)
    states.forEach((x, l) => {
      for (let s = 0; s < S; s++) {
        const logits = logitsRef(config, params, x.subarray(s * C, (s + 1) * C))
        const logP = logSoftmax(logits)
        entropy[s * at + l] = -logP.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0)
        if (s < S - 1) next_prob[s * at + l] = Math.exp(logP[batch.input_ids[s + 1]])
        const top = topKRef(logits, V, k)
        ids.set(top.ids, (s * at + l) * k)
        probs.set(top.probs, (s * at + l) * k)
      }
    })
    return { entropy, ids, probs, next_prob }
  }
  const norm = params['model.norm.weight']
  return {
    raw: readout(hidden_states),
    normed: readout(hidden_states.map((x) => rmsNorm(x, norm, rms_norm_eps))),
  }
}
