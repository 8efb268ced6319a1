// Computes one number per token or sequence, in float64.
import type { ModelConfig } from '../layout/config.ts'
import { backwardStatesRef } from './backward.ref.ts'
import { linear, linearBackward, type RefArrays } from './operations.ref.ts'
import type { RefCache } from './transformer.ref.ts'

/** score · final_norm(hidden[L]) + bias (where there is one) of every token, [M]. `cache` from a
 * forward of all blocks. */
export function valuesRef(params: RefArrays, cache: RefCache): Float64Array {
  const score = params['score.weight']
  return linear(cache.normed, score.length, score, params['score.bias'])
}

/** Gradients of Σ d_values · valuesRef by parameter name; d_values [M], zero where nothing is
 * read. */
export function valuesBackwardRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  d_values: Float64Array,
): RefArrays {
  const grads: RefArrays = {}
  const layer = config.num_hidden_layers
  const d_states = linearBackward(
    params,
    grads,
    'score',
    cache.normed,
    config.hidden_size,
    d_values,
  )
  backwardStatesRef(config, params, cache, layer, d_states, grads)
  return grads
}

/** [rows, columns] read at column firstColumn + t of each of the batch's rows; 0 where mask is. */
export function readSpan(
  values: Float64Array,
  { batch }: RefCache,
  mask: ArrayLike<number>,
  firstColumn: number,
): Float64Array {
  const columns = mask.length / batch.rows
  return Float64Array.from({ length: mask.length }, (_, i) => {
    const b = Math.floor(i / columns)
    return mask[i] ? values[b * batch.width + firstColumn + (i % columns)] : 0
  })
}

/** The reverse of readSpan: d_values [M] from the gradient of what it read. */
export function scatterSpan(
  dRead: Float64Array,
  { batch }: RefCache,
  mask: ArrayLike<number>,
  firstColumn: number,
): Float64Array {
  const columns = mask.length / batch.rows
  const d_values = new Float64Array(batch.rows * batch.width)
  dRead.forEach((d, i) => {
    const b = Math.floor(i / columns)
    if (mask[i]) d_values[b * batch.width + firstColumn + (i % columns)] += d
  })
  return d_values
}
