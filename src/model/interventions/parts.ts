// Names the parts of a model that can be switched off by themselves.
import type { ModelShape } from '../layout/config.ts'
import type { Change } from './intervention_tensors.ts'

/** A part of a model that can be switched off. */
export interface Part {
  readonly where: 'attention' | 'head' | 'feed_forward' | 'block'
  /** Blocks applied, from 1. */
  readonly layer: number
  /** From 0; of heads alone. */
  readonly head?: number
}

/** Every part, block by block; of these blocks alone, from 1, where some are given. */
export const partsOf = (
  {
    num_hidden_layers: L,
    num_attention_heads: H,
  }: Pick<ModelShape, 'num_hidden_layers' | 'num_attention_heads'>,
  layers: readonly number[] = Array.from({ length: L }, (_, l) => l + 1),
): Part[] =>
  layers.flatMap((layer): Part[] => [
    { where: 'block', layer },
    { where: 'attention', layer },
    ...Array.from({ length: H }, (_, head): Part => ({ where: 'head', layer, head })),
    { where: 'feed_forward', layer },
  ])

/** Nothing in the place of what a part writes. */
export const offChange = ({ where, layer, head }: Part, shape: ModelShape): Change => ({
  where,
  layer,
  head,
  adds: false,
  values: new Float32Array(where === 'head' ? shape.head_dim : shape.hidden_size),
})
