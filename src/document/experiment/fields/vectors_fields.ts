// Declares the fields of steering vectors that are trained on a frozen model.

import type { SteeringConfig } from '../../../model/layout/config.ts'
import { boolean, number, type Tree, text } from '../../../rl/fields/field.ts'
import { hashField, LAYERS, namesOf, SOURCE_NAME } from './lora_fields.ts'

/** The `model.steering_vectors` section. */
export interface VectorFields {
  readonly trainable: boolean
  /** Blocks applied, with commas, 0 = the embedding; null = after every block. */
  readonly layers: string | null
  /** What the vectors of the file are multiplied by. */
  readonly strength: number
  /** The hash of the file of vectors that a run begins with; null = zeros. */
  readonly source: string | null
  readonly source_name: string | null
}

/** The vectors as the model's config has them; undefined where there are none. */
export const vectorsOf = ({ trainable, layers }: VectorFields): SteeringConfig | undefined =>
  trainable ? { layers: layers === null ? null : namesOf(layers).map(Number) } : undefined

export const VECTORS: Tree<VectorFields> = {
  trainable: boolean({
    label: 'Steering vectors',
    help: 'Whether vectors are trained in place of the model’s weights: one for each layer, added to its states at every token.',
    default: false,
  }),
  layers: text(
    {
      label: 'Steered layers',
      help: 'Layers that have a vector, with commas: 0 is the embedding, 1 the first block; none = after every block.',
      default: null,
      none: '',
      max: 200,
    },
    {
      holds: (list) => LAYERS.test(list),
      expected: 'whole numbers from 0 on, with commas',
    },
  ),
  strength: number({
    label: 'Strength at the start',
    help: 'What the vectors of the file are multiplied by.',
    default: 1,
    min: -100,
    max: 100,
  }),
  source: hashField(
    'Vectors begin with',
    'The hash of the file of vectors that a run begins with; none = zeros, which change nothing.',
  ),
  source_name: SOURCE_NAME,
}
