// Suggests the layer that BuPO should train first, from how much each feed-forward changes the
// entropy.

export interface SuggestedLayer {
  /** Blocks below the policy to train, 1…L−1; undefined where the measurement names none. */
  readonly layer: number | undefined
  /** One or two sentences. */
  readonly why: string
}

const signed = (value: number) =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${Math.abs(value).toFixed(3)}`
const nats = (value: number) => `${signed(value)} nats`

/** What speaks against a boundary: layers below it whose feed-forward stays at the threshold or
 * under it. */
function butWords(deltaHFfn: readonly number[], last: number, threshold: number): string {
  const below = deltaHFfn
    .slice(0, last - 1)
    .flatMap((change, l) =>
      change > threshold ? [] : [`layer ${l + 1} changes it by ${signed(change)}`],
    )
  return below.length === 0
    ? ''
    : ` Below it some do not raise it by more than ${threshold} nats (${below.join(', ')}): the boundary is not a clear one.`
}

/** The boundary layer of BuPO (arXiv 2512.19673 section 5.3): the last layer whose feed-forward
 * still raises the entropy, before they merely integrate or converge. `delta_h_ffn` holds ΔH_FFN of
 * layers 1…L (metrics `layer/delta_h_ffn/<l>`). The paper names no bound for "about zero": a change
 * counts from above `threshold` nats on (≥ 0).
 *
 * The last layer has no inner policy of its own: where even its feed-forward raises the entropy the
 * one below is named. Throws RangeError for a model of one layer, a number that is not finite or a
 * threshold below 0. */
export function suggestedLayer(deltaHFfn: readonly number[], threshold: number): SuggestedLayer {
  const L = deltaHFfn.length
  if (L < 2) throw new RangeError(`delta_h_ffn: expected at least 2 layers, got ${L}`)
  const broken = deltaHFfn.findIndex((x) => !Number.isFinite(x))
  if (broken >= 0)
    throw new RangeError(
      `delta_h_ffn: expected numbers, got ${deltaHFfn[broken]} for layer ${broken + 1}`,
    )
  if (!(threshold >= 0))
    throw new RangeError(`threshold: expected at least 0 nats, got ${threshold}`)
  const raises = deltaHFfn.map((change) => change > threshold)
  const last = raises.lastIndexOf(true) + 1
  if (last === 0)
    return {
      layer: undefined,
      why: `No layer’s feed-forward raises the entropy by more than ${threshold} nats, so there is no boundary to train at.`,
    }
  if (last === L)
    return {
      layer: L - 1,
      why: `Feed-forwards raise the entropy up to the last layer (${nats(deltaHFfn[L - 1])}), whose policy is the whole model’s; layer ${L - 1} is the last inner one.`,
    }
  return {
    layer: last,
    why: `Layer ${last} is the last whose feed-forward raises the entropy (${nats(deltaHFfn[last - 1])}); that of layer ${last + 1} changes it by ${nats(deltaHFfn[last])}.${butWords(deltaHFfn, last, threshold)}`,
  }
}
