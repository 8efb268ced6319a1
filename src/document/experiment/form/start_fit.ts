// Says what a run that begins with a model cannot change: the sizes of its weights, and the tokens
// that they know.

import { taskOf } from '../fields/task_fields.ts'
import type { Experiment } from '../schema/schema.ts'

/** What decides the shapes of a model's weights. */
const SIZES = [
  'model_type',
  'hidden_size',
  'num_hidden_layers',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'intermediate_size',
  'tie_word_embeddings',
  'vocab_size',
] as const

const tokensOf = ({ task }: Experiment): string => taskOf(task).tokenizer.tokens.join('\n')

/** Why `after` does not fit the weights that `before` begins with or learns from, as 'path:
 * reason'; undefined where it does, or where it has others. */
export function startIssue(before: Experiment, after: Experiment): string | undefined {
  for (const part of ['model', 'teacher'] as const) {
    const { source, source_name } = before[part]
    if (source === null || after[part].source !== source) continue
    const says = (path: string, has: string) =>
      `${path}: the model “${source_name ?? source}” has ${has}`
    const size = SIZES.find((key) => before[part][key] !== after[part][key])
    if (size) return says(`${part}.${size}`, `${before[part][size] ?? 'as many rows as its task'}`)
    if (before.task !== after.task && tokensOf(before) !== tokensOf(after))
      return says('task.id', 'other tokens than this task')
  }
  return undefined
}
