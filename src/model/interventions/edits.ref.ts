// Changes a forward pass on its way, in float64: the reference of interventions.
import type { ModelConfig } from '../layout/config.ts'
import type { RefBatch } from '../transformer/operations.ref.ts'

/** What a pass changes: the residual stream after `layer` blocks, or what block `layer` (from 1) or
 * a part of it writes. */
export type RefPlace = 'residual' | 'block' | 'attention' | 'feed_forward' | 'head'

/** One change: at the chosen tokens a state becomes `values`, or itself plus `values`. */
export interface RefEdit {
  readonly where: RefPlace
  /** Blocks applied: 0 … L for the residual stream, 1 … L for parts of a block. */
  readonly layer: number
  /** From 0; of 'head' alone: its output before o_proj, D numbers. */
  readonly head?: number | undefined
  /** Whether token m of the M = rows · width is changed; absent = every one. */
  readonly isChosen?: ((m: number) => boolean) | undefined
  /** Whether the values are added. */
  readonly adds?: boolean
  /** One vector for all tokens, or one for each. */
  readonly values: Float64Array
}

/** The first block whose output may differ from that of the untouched pass, from 0. */
export const firstEdited = (edits: readonly RefEdit[]): number =>
  edits.reduce(
    (least, { where, layer }) => Math.min(least, where === 'residual' ? layer : layer - 1),
    Number.POSITIVE_INFINITY,
  )

/** `state` [M, n] after the edits of one place; `base` is what stays where the part writes nothing,
 * for a state that holds both. Edits are applied in their order. Returns `state` itself where there
 * are none. */
export function edited(
  edits: readonly RefEdit[],
  { rows, width }: RefBatch,
  { head_dim }: Pick<ModelConfig, 'head_dim'>,
  where: RefPlace,
  layer: number,
  state: Float64Array,
  base?: Float64Array,
): Float64Array {
  const own = edits.filter((edit) => edit.where === where && edit.layer === layer)
  if (own.length === 0) return state
  const M = rows * width
  const y = state.slice()
  for (const { head, isChosen, adds, values } of own) {
    const count = head === undefined ? y.length / M : head_dim
    const first = (head ?? 0) * head_dim
    for (let m = 0; m < M; m++) {
      if (isChosen && !isChosen(m)) continue
      for (let c = 0; c < count; c++) {
        const i = (m * y.length) / M + first + c
        const value = values[values.length === count ? c : m * count + c]
        y[i] = value + (adds ? y[i] : (base?.[i] ?? 0))
      }
    }
  }
  return y
}
