// Holds the settings with which the lab fits lenses, and names those that files give.
import type { TranslatedReadout } from '../../model/layout/readout.ts'

/** The hash of the file of each lens that a run reads layers through; phases fit the others. */
export type LensFiles = Readonly<Partial<Record<TranslatedReadout, string>>>

/** Short, as texts are: the tuned-lens library takes 250 steps over many more tokens, and the
 * Jacobian lens of the paper skips 16. */
export const FIT = {
  /** Steps of AdamW of a tuned lens, and its rate, which falls to zero. */
  steps: 200,
  lr: 0.01,
  optimizer: { betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0.001 },
  /** Leading tokens of a text that the Jacobian leaves out. */
  skip_first: 0,
} as const

export interface LensSettings {
  /** Texts that the lenses are fitted on. */
  readonly texts: number
  /** Texts that they are measured on. */
  readonly held_out: number
  /** Steps of AdamW of the tuned lens. */
  readonly steps: number
  readonly lr: number
  /** Leading tokens of a text that the Jacobian leaves out. */
  readonly skip_first: number
}

export const LENS_SETTINGS: LensSettings = {
  texts: 128,
  held_out: 64,
  steps: FIT.steps,
  lr: FIT.lr,
  skip_first: FIT.skip_first,
}
