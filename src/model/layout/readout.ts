// Says how a layer's policy is read from its states.
import type { ModelShape } from './config.ts'

/** A translator stands before the final norm: of a tuned lens (Belrose et al. 2023, arXiv
 * 2303.08112) or the average Jacobian from a layer to the last (Gurnee et al. 2026). */
export const TRANSLATED_READOUTS = ['tuned', 'jacobian'] as const
export type TranslatedReadout = (typeof TRANSLATED_READOUTS)[number]

/** How an inner layer's policy is read: 'raw' = its states as they are (BuPO eq. 5, arXiv
 * 2512.19673), 'normed' = with the final norm first (the logit lens, there table 5). The last
 * layer's always has the norm. */
export type PlainReadout = 'raw' | 'normed'

/** The others go through a translator and then the norm; the last layer's through the norm
 * alone. */
export type Readout = PlainReadout | TranslatedReadout

type Depth = Pick<ModelShape, 'num_hidden_layers'>

/** Whether a policy is read through the final norm. */
export const readsNormed = (
  { num_hidden_layers }: Depth,
  layer: number,
  readout: Readout,
): boolean => layer === num_hidden_layers || readout !== 'raw'

/** The translator that a policy is read through; undefined = none. */
export function translatedAs(
  { num_hidden_layers }: Depth,
  layer: number,
  readout: Readout,
): TranslatedReadout | undefined {
  if (layer === num_hidden_layers || readout === 'raw' || readout === 'normed') return undefined
  return readout
}

/** What is read through a translator. */
export interface LensPlace {
  readonly layer: number
  readonly readout: TranslatedReadout
}
