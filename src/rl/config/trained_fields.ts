// Declares the fields of a reinforcement phase that say which parameters it trains, and how fast.
import type { Readout } from '../../model/layout/readout.ts'
import { boolean, integer, number, select, type Tree } from '../fields/field.ts'
import { layerList } from './layer_list.ts'

/** What a phase of kind rl has of its own. What is in no TrainedPart is the engine's as it is
 * (RlPhase). A list of layers is text here, as a form has it. */
export interface TrainedFields {
  readonly target_readout: Readout
  /** The actor's moments and step counts start from zero where this phase begins. */
  readonly reset_optimizer: boolean
  /** Warm-up and decay of the learning rate start at zero where this phase begins; otherwise they
   * continue. */
  readonly reset_schedule: boolean
  readonly freeze: {
    readonly embed_tokens: boolean
    /** Whole numbers with commas; null = none. */
    readonly layers: string | null
  }
  readonly lr_factor_above: { readonly layer: number; readonly factor: number }
  readonly decay_final_norm: boolean
}

const READOUT = {
  label: 'Read-out',
  help: 'Whether an inner layer’s policy is read from its states as they are, as in the paper, or through the final norm, which then is trained too. A lens is fitted at its first step.',
} as const

/** Of phases of several kinds. Translators are fitted where a phase begins, and stay as they are in
 * it. */
export const targetReadout = select(READOUT, {
  raw: 'raw (as in the paper)',
  normed: 'through the final norm',
  tuned: 'tuned lens',
  jacobian: 'Jacobian lens',
})

/** `mostLayers`: of any model. */
export const trainedFields = (mostLayers: number): Tree<TrainedFields> => ({
  target_readout: targetReadout,
  reset_optimizer: boolean({
    label: 'Reset the optimizer',
    help: 'Whether the actor’s AdamW forgets its past gradients where this phase begins; the learning-rate schedule continues.',
    default: false,
  }),
  reset_schedule: boolean({
    label: 'Restart the schedule',
    help: 'Whether warm-up and decay begin at zero with this phase; otherwise it continues the schedule of the phase before it, whose warm-up is over.',
    default: false,
  }),
  freeze: {
    embed_tokens: boolean({
      label: 'Freeze the embedding',
      help: 'Whether the embedding keeps its values in this phase; with tied embeddings so does the matrix that scores tokens.',
      default: false,
    }),
    layers: layerList({
      label: 'Freeze layers',
      help: 'Layers that keep their values in this phase, counted from 1, with commas (1,2); none = all learn.',
    }),
  },
  lr_factor_above: {
    layer: integer({
      label: 'Slower above layer',
      help: 'The layers above this one, and the final norm, have a learning rate of their own; 0 = all layers.',
      default: 1,
      min: 0,
      max: mostLayers,
      unit: 'layer',
    }),
    factor: number({
      label: 'Rate above it',
      help: 'What the learning rate is multiplied by there; 1 = off, 0 = those layers are frozen.',
      default: 1,
      min: 0,
      max: 10,
      step: 0.1,
      unit: 'times the rate',
    }),
  },
  decay_final_norm: boolean({
    label: 'Decay the final norm',
    help: 'Whether the final norm has a gradient of zero here in place of none: AdamW then decays it and counts its steps, as FSDP 1 on several GPUs does.',
    default: false,
  }),
})
