// Says whether a layer's policy is read through the final norm.
import type { ModelShape } from './config.ts'

/** How an inner layer's policy is read: 'raw' = its states as they are (BuPO eq. 5, arXiv
 * 2512.19673), 'normed' = with the final norm first (the logit lens, there table 5). The last
 * layer's always has the norm. */
export type Readout = 'raw' | 'normed'

/** Whether a policy is read through the final norm. */
export const readsNormed = (
  { num_hidden_layers }: Pick<ModelShape, 'num_hidden_layers'>,
  layer: number,
  readout: Readout,
): boolean => layer === num_hidden_layers || readout === 'normed'
