// Declares the fields of another model that teaches: its sizes, and the hash of its files.
import type { ModelConfig } from '../../../model/layout/config.ts'
import { type Tree, text } from '../../../rl/fields/field.ts'
import { hashField } from './lora_fields.ts'
import { MODEL, MOST_ADDRESS, type ModelFields, withTokens } from './model_fields.ts'

/** Of the fields of a model, those that a model has which is not trained. */
export type TeacherFields = Omit<
  ModelFields,
  | 'padding_idx'
  | 'enable_gradient_checkpointing'
  | 'activations_dtype'
  | 'lora'
  | 'steering_vectors'
  | 'lenses'
>

const {
  padding_idx: _,
  enable_gradient_checkpointing: __,
  activations_dtype: ___,
  lora: ____,
  steering_vectors: _____,
  lenses: ______,
  ...OF_MODEL
} = MODEL

/** The `teacher` section. */
export const TEACHER: Tree<TeacherFields> = {
  ...OF_MODEL,
  source: hashField(
    'Teacher',
    'The hash of the opened model that phases of distillation may learn from; none = there is none.',
  ),
  source_address: text({
    label: 'Its address',
    help: 'Where the teacher can be fetched: hf:owner/name@revision or a folder; none = from nowhere.',
    default: null,
    none: '',
    max: MOST_ADDRESS,
  }),
}

/** The teacher as the trainer has it, for a task with so many tokens; undefined where none is
 * named. */
export function teacherConfig(
  { source, source_name: _, source_address: __, ...sizes }: TeacherFields,
  tokens: number,
): ModelConfig | undefined {
  return source === null ? undefined : withTokens(sizes, tokens)
}
