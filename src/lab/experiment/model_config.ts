// The model section of an experiment as the model that it describes.
import type { ModelConfig } from '../../model/params/config.ts'
import { loraOf, type ModelFields } from './fields/model_fields.ts'

/** For a task with so many tokens. */
export function modelConfig(fields: ModelFields, tokens: number): ModelConfig {
  const { enable_gradient_checkpointing: _, source: __, source_name: ___, ...model } = fields
  const { padding_idx, vocab_size, lora: lora_fields, ...sizes } = model
  const lora = loraOf(lora_fields)
  return {
    ...sizes,
    ...(padding_idx >= 0 && { padding_idx }),
    ...(lora && { lora }),
    vocab_size: Math.max(vocab_size, tokens),
  }
}
