// Says which parameters a phase trains, and how fast: a factor of the learning rate for each
// segment of the flat layout.
import { type FlatLayout, trainedPrefix } from '../../model/layout/flat_params.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import { type Readout, readsNormed } from '../../model/layout/readout.ts'
import { type EntropyBonus, hasFinalEntropy } from './actor.ts'

/** Parameters that keep their values, as in torch with requires_grad = False: no moments, no decay,
 * no part in the norm. */
export interface Freeze {
  /** model.embed_tokens; where the head is tied to it, that too. */
  readonly embed_tokens: boolean
  /** Blocks, counted from 1. */
  readonly layers: readonly number[]
}

/** A learning rate of their own for the blocks above `layer` and the final norm: `factor` times the
 * phase's; 0 freezes them. */
export interface LrFactorAbove {
  /** 0…L */
  readonly layer: number
  readonly factor: number
}

/** What decides on the trained parameters. */
export interface TrainedPart {
  readonly target_layer: number
  readonly target_readout?: Readout | undefined
  readonly freeze?: Freeze | undefined
  readonly lr_factor_above?: LrFactorAbove | undefined
  /** In a phase of an inner layer: the final norm has a gradient of 0 instead of none. AdamW then
   * decays it in every update and counts its steps, as PyTorch's FSDP 1 on several ranks does,
   * where the norm shares a flat parameter with the embedding. */
  readonly decay_final_norm?: boolean | undefined
  readonly actor?: EntropyBonus
}

/** The layout of what is trained: a model's weights, or the adapter beside them. */
export type TrainedLayout = Pick<ParamLayout, 'shape'> & FlatLayout

/** Factor of the learning rate of every segment (ParamLayout.segment_ends), 0 = not trained: what
 * the target's policy does not read, and what is frozen. undefined where the policy's whole prefix
 * learns at one rate (trainedPrefix).
 *
 * The policy of an inner layer that is read 'normed' trains the final norm too, because its
 * gradient reaches the norm's weight; the blocks in between stay as they are. A bonus for the whole
 * model's entropy reaches every segment. */
export function segmentFactors(
  layout: TrainedLayout,
  part: TrainedPart,
): readonly number[] | undefined {
  const { target_layer, target_readout = 'raw', freeze, lr_factor_above } = part
  const { shape, segment_ends, first_block, numBlocks } = layout
  const prefix = trainedPrefix(layout, target_layer).segments
  const readsAll = hasFinalEntropy(part, numBlocks)
  // An adapter has blocks alone.
  const norm = first_block + numBlocks
  const hasNorm = readsNormed(shape, target_layer, target_readout) || part.decay_final_norm
  const factors = segment_ends.map((_, segment) => {
    const block = segment - first_block + 1
    const isBlock = block >= 1 && segment < norm
    const isRead = segment < prefix || readsAll || (segment === norm && hasNorm)
    const isFrozen = isBlock
      ? freeze?.layers.includes(block)
      : segment === 0 && freeze?.embed_tokens
    if (!isRead || isFrozen) return 0
    const isAbove = lr_factor_above && block > lr_factor_above.layer
    return isAbove ? lr_factor_above.factor : 1
  })
  const isPlain = factors.every((factor, segment) => factor === (segment < prefix ? 1 : 0))
  return isPlain ? undefined : factors
}

/** The stretches of the flat layout, in elements, that a factor of 0 freezes. */
export function frozenRuns(
  { segment_ends }: Pick<FlatLayout, 'segment_ends'>,
  factors: readonly number[],
): { readonly offset: number; readonly count: number }[] {
  const runs: { offset: number; count: number }[] = []
  segment_ends.forEach((end, segment) => {
    const offset = segment === 0 ? 0 : segment_ends[segment - 1]
    if (factors[segment] !== 0 || end === offset) return
    const last = runs.at(-1)
    if (last && last.offset + last.count === offset) last.count += end - offset
    else runs.push({ offset, count: end - offset })
  })
  return runs
}
