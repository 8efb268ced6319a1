// Names the quantities that a probe shows of a model's inside, with their shapes and the plain
// result with its means. No device here. B rows, S positions per row; L blocks; H^l the residual
// stream after l blocks, A^l and F^l what block l adds to it.

/** Every quantity, and what there is one value of per position:
 *   states  each of H^0 … H^L                     [L+1, B, S]
 *   blocks  each block                            [L, B, S]
 *   pairs   each pair of states                   [L+1, L+1, B, S]
 *   logits  each vocabulary entry                 [B, S, V]
 *   layer_logits  each state and each entry       [L+1, B, S, V]
 *
 * Entropies, divergences and log-probabilities are in nats, at temperature 1. "Policy of x" is
 * softmax(x · E^T). Source: BuPO, arXiv 2512.19673, eqs. 5 to 8 and 11 to 13, appendix B.5. */
export const QUANTITIES = {
  /** Entropy of the policy of H^l, no norm; entry L too. Depends on the length of H^l: show
   * norm_hidden beside it. */
  ent_layer_raw: 'states',
  /** Entropy of the policy of final_norm(H^l); entry L is the model's own. */
  ent_layer_norm: 'states',
  /** Log-probability of the next token under the policy of H^l; 0 where there is no next token. */
  logp_next_layer: 'states',
  /** The same with the final norm; entry L is the model's own. */
  logp_next_layer_norm: 'states',
  /** Entropies of the policies of what a block reads (after its own norms) and of what it writes,
   * A^l and F^l. */
  ent_attn_in: 'blocks',
  ent_attn_out: 'blocks',
  ent_ffn_in: 'blocks',
  ent_ffn_out: 'blocks',
  /** Entropy of H^l minus that of H^(l-1): adds up over blocks. */
  dH_layer: 'blocks',
  /** ent_attn_out − ent_attn_in, and ent_ffn_out − ent_ffn_in. */
  dH_attn: 'blocks',
  dH_ffn: 'blocks',
  /** cos(A^l, H^(l-1)) and cos(F^l, H^(l-1) + A^l): near 0 new directions, below 0 removal, above 0
   * amplification. */
  cos_attn: 'blocks',
  cos_ffn: 'blocks',
  /** Euclidean lengths of H^l, A^l and F^l. */
  norm_hidden: 'states',
  norm_attn_out: 'blocks',
  norm_ffn_out: 'blocks',
  /** KL(policy of H^l ‖ the model's own) and KL(the model's own ‖ policy of H^l). */
  kl_layer_final: 'states',
  kl_final_layer: 'states',
  /** KL(policy of H^k ‖ policy of H^l), both without norm, for one k that is chosen when the probe
   * is made. */
  kl_of_layer: 'states',
  /** cos(H^i, H^j). */
  cos_hidden: 'pairs',
  /** Of the model's own policy. */
  logits: 'logits',
  /** H^l · E^T, no norm. Takes (L+1) · B · S · V numbers: for single rows. */
  logits_layer: 'layer_logits',
} as const

export type Quantity = keyof typeof QUANTITIES
/** Quantities that have a mean over positions. */
export type MeanQuantity = Exclude<Quantity, 'logits' | 'logits_layer'>
export const QUANTITY_NAMES = Object.keys(QUANTITIES) as readonly Quantity[]

/** What a report of a whole model shows: not the logits of every layer, and nothing that depends on
 * a choice. */
export type ReportedQuantity = Exclude<Quantity, 'logits_layer' | 'kl_of_layer'>
export const REPORTED_NAMES = QUANTITY_NAMES.filter(
  (name): name is ReportedQuantity => name !== 'logits_layer' && name !== 'kl_of_layer',
)

/** Differences of other quantities: [minuend, subtrahend]; of the same one, entry l+1 minus entry
 * l. */
export const DIFFERENCES = {
  dH_layer: ['ent_layer_raw', 'ent_layer_raw'],
  dH_attn: ['ent_attn_out', 'ent_attn_in'],
  dH_ffn: ['ent_ffn_out', 'ent_ffn_in'],
} as const
export type Difference = keyof typeof DIFFERENCES
export const isDifference = (quantity: Quantity): quantity is Difference => quantity in DIFFERENCES

/** Which positions of a row: every column, or those that predict its response tokens (column P−1+t
 * for token t). */
export type Positions = 'all' | 'response'

type Numbers = Float32Array | Float64Array

/** Quantities by name, 0 where `mask` is. Shapes in QUANTITIES, with S = columns. */
export interface Internals<Q extends Quantity = Quantity, A extends Numbers = Float32Array> {
  readonly rows: number
  /** S: positions per row. */
  readonly columns: number
  /** L */
  readonly num_hidden_layers: number
  /** [rows, columns], 1 for real positions. */
  readonly mask: A
  /** [rows, columns], 1 for real positions that have a next token: where log-probabilities are. */
  readonly nextMask: A
  readonly values: Readonly<Record<Q, A>>
}

/** Entries of a quantity per position, vocabulary entries aside. */
export function entriesOf(quantity: Quantity, numHiddenLayers: number): number {
  const states = numHiddenLayers + 1
  const kinds = { states, blocks: numHiddenLayers, pairs: states ** 2, logits: 1 }
  const kind = QUANTITIES[quantity]
  return kind === 'layer_logits' ? states : kinds[kind]
}

/** 1 where a position and the one after it in its row are real; [rows, columns] as is the mask. */
export function nextMask<A extends Numbers>(mask: A, columns: number): A {
  const next = mask.slice() as A
  for (let i = 0; i < mask.length; i++)
    if ((i + 1) % columns === 0 || mask[i + 1] === 0) next[i] = 0
  return next
}

const isLogProb = (quantity: Quantity) => quantity.startsWith('logp_')
const isLogits = (quantity: Quantity): quantity is 'logits' | 'logits_layer' =>
  quantity === 'logits' || quantity === 'logits_layer'

/** The positions that a quantity has a value at. */
export const maskOf = <A>(masks: { mask: A; nextMask: A }, quantity: Quantity): A =>
  isLogProb(quantity) ? masks.nextMask : masks.mask

/** Means over positions, [L+1], [L] or [(L+1)²] for each quantity: sum over the positions that
 * `mask` [rows, columns] and the quantity itself have, divided by their number, so every token
 * weighs the same. Quantities without any such position, and logits, are absent. */
export function tokenMeans<Q extends Quantity, A extends Numbers>(
  internals: Internals<Q, A>,
  mask: ArrayLike<number> = internals.mask,
): Partial<Record<Q & MeanQuantity, Float64Array>> {
  const positions = internals.rows * internals.columns
  if (mask.length !== positions)
    throw new RangeError(
      `mask: expected [${internals.rows}, ${internals.columns}], got ${mask.length} values`,
    )
  const means: Partial<Record<Quantity, Float64Array>> = {}
  for (const [quantity, values] of Object.entries(internals.values) as [Q, A][]) {
    if (isLogits(quantity)) continue
    const own = maskOf(internals, quantity)
    const chosen = Array.from({ length: positions }, (_, i) => i).filter((i) => mask[i] && own[i])
    if (chosen.length === 0) continue
    means[quantity] = Float64Array.from({ length: values.length / positions }, (_, entry) => {
      const sum = chosen.reduce((total, i) => total + values[entry * positions + i], 0)
      return sum / chosen.length
    })
  }
  return means
}
