// Gives the parts of an untouched pass that ablations replace and patches carry over.
import type { RefPlace } from '../../src/model/interventions/edits.ref.ts'
import type { RefBatch } from '../../src/model/transformer/operations.ref.ts'
import type { RefCache } from '../../src/model/transformer/transformer.ref.ts'

/** What a place of a pass holds for every token: [M, n] with n = C, or H · D of the heads of a
 * block. */
export function stateOf(
  { hidden_states, blocks }: RefCache,
  where: RefPlace,
  layer: number,
): Float64Array {
  if (where === 'residual') return hidden_states[layer]
  const block = blocks[layer - 1]
  if (where === 'attention') return block.attn_out
  if (where === 'feed_forward') return block.ffn_out
  if (where === 'head') return block.context
  return block.attn_out.map((x, i) => x + block.ffn_out[i])
}

/** Head h's numbers out of [M, H · D]: [M, D]. */
export const headOf = (
  states: Float64Array,
  { num_attention_heads: H, head_dim: D }: { num_attention_heads: number; head_dim: number },
  h: number,
): Float64Array => states.filter((_, i) => Math.floor((i % (H * D)) / D) === h)

/** Mean over all real tokens of a batch, pooled. */
export function meanOver({ rows, width, attention_mask }: RefBatch, x: Float64Array): Float64Array {
  const M = rows * width
  const n = x.length / M
  const mean = new Float64Array(n)
  let tokens = 0
  for (let m = 0; m < M; m++) {
    if (!attention_mask[m]) continue
    tokens++
    for (let i = 0; i < n; i++) mean[i] += x[m * n + i]
  }
  return mean.map((sum) => sum / tokens)
}
