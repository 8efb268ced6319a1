// An opened model as what an experiment begins with.
import type { ModelConfig } from '../../../model/params/config.ts'
import { type ModelFile, modelHash, modelList } from '../../content/models/model_files.ts'
import type { ModelStart } from '../../protocol/opened_model.ts'

/** Throws RangeError for a model that can be looked into and not trained. */
export function startOf(
  name: string,
  config: ModelConfig,
  files: readonly ModelFile[],
  tokenizer: Readonly<Record<string, string>>,
): ModelStart {
  const { rope_scaling, padding_idx = -1, ...sizes } = config
  if (rope_scaling)
    throw new RangeError(
      `${name} slows its rotary positions down (rope_scaling), which a training has no field for. It can be looked into and written with.`,
    )
  const hash = modelHash(files)
  const { model_type, vocab_size, hidden_size, intermediate_size, num_hidden_layers } = sizes
  const { num_attention_heads, num_key_value_heads, head_dim, rms_norm_eps, rope_theta } = sizes
  const fields = {
    ...{ model_type, vocab_size, hidden_size, intermediate_size, num_hidden_layers },
    ...{ num_attention_heads, num_key_value_heads, head_dim, rms_norm_eps, rope_theta },
    ...{ tie_word_embeddings: sizes.tie_word_embeddings, padding_idx },
    ...{ source: hash, source_name: name },
  }
  return { hash, name, fields, list: modelList(files), tokenizer }
}
