// Computes the mean and standard deviation of what a probe shows on the GPU: a few numbers come
// back in place of one per token.

import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { moments, NOTHING } from '../../kernels/moments/moments.ts'
import {
  DIFFERENCES,
  entriesOf,
  isDifference,
  type MeanQuantity,
  type Quantity,
} from './internal_quantities.ts'
import type { InternalsTensors } from './internals_tensors.ts'

export interface InternalMoments {
  readonly internals: InternalsTensors<MeanQuantity>
  /** Numbers between two entries of the probe's values: what a mask must have. */
  readonly count: number
  /** Which entries, or differences of entries, each set is; u32 [sets, 2]. */
  readonly sets: Tensor<'u32'>
  /** (mean, standard deviation) of each entry of each quantity, in the order of
   * internals.quantities; [sets, 2]. */
  readonly moments: Tensor<'f32'>
}

/** Mean and standard deviation by quantity, each [L+1], [L] or [(L+1)²]. */
export interface TokenMoments {
  readonly mean: Partial<Record<MeanQuantity, number[]>>
  readonly std: Partial<Record<MeanQuantity, number[]>>
}

/** Allocates room for the moments of what `internals` is asked for. */
export function createInternalMoments(
  alloc: Allocator,
  internals: InternalsTensors<MeanQuantity>,
): InternalMoments {
  const [values] = internals.outputs
  const first = new Map<Quantity, number>()
  let rows = 0
  for (const [quantity, { length }] of internals.slots) {
    first.set(quantity, rows)
    rows += length
  }
  const sets = internals.quantities.flatMap((quantity) => setsOf(quantity, first, internals))
  const data = Uint32Array.from(sets.flat())
  return {
    internals,
    count: values.shape[0] / rows,
    sets: alloc.tensor('internals.sets', 'u32', [sets.length, 2], { data }),
    moments: alloc.tensor('internals.moments', 'f32', [sets.length, 2]),
  }
}

function setsOf(
  quantity: MeanQuantity,
  first: ReadonlyMap<Quantity, number>,
  { shape }: InternalsTensors<MeanQuantity>,
): (readonly [number, number])[] {
  const L = shape.num_hidden_layers
  const row = (of: Quantity, entry: number) => (first.get(of) ?? 0) + entry
  return Array.from({ length: entriesOf(quantity, L) }, (_, entry) => {
    if (isDifference(quantity)) {
      const [of, from] = DIFFERENCES[quantity]
      return [row(of, of === from ? entry + 1 : entry), row(from, entry)]
    }
    if (quantity !== 'cos_hidden') return [row(quantity, entry), NOTHING]
    // Only the upper half is computed.
    const [i, j] = [Math.floor(entry / (L + 1)), entry % (L + 1)]
    return [row(quantity, Math.min(i, j) * (L + 1) + Math.max(i, j)), NOTHING]
  })
}

/** Records the moments over what `mask` [count] counts, to run after recordInternals. */
export function recordInternalMoments<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  { internals, count, sets, moments: out }: InternalMoments,
  mask: Tensor,
): void {
  const [values] = internals.outputs
  run(moments, { count, sets: sets.shape[0] }, { values, mask, sets, moments: out })
}

/** `read`: moments as they came back. */
export function unpackInternalMoments(
  { internals }: InternalMoments,
  read: ArrayLike<number>,
): TokenMoments {
  const mean: TokenMoments['mean'] = {}
  const std: TokenMoments['std'] = {}
  let set = 0
  for (const quantity of internals.quantities) {
    const length = entriesOf(quantity, internals.shape.num_hidden_layers)
    const first = set
    mean[quantity] = Array.from({ length }, (_, i) => read[2 * (first + i)])
    std[quantity] = Array.from({ length }, (_, i) => read[2 * (first + i) + 1])
    set += length
  }
  return { mean, std }
}
