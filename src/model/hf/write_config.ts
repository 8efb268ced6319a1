// Writes config.json and generation_config.json as transformers 4.56 and 5 both read them.
// hf_config.ts reads them back.

import type { Vocabulary } from '../../formats/write_tokenizer.ts'
import type { ModelConfig } from '../layout/config.ts'
import type { Head } from '../layout/params.ts'
import { CLASS_PREFIX, HEAD_OF_CLASS } from './hf_config.ts'

/** The suffix of Hugging Face's class for a head, e.g. ForCausalLM. */
const suffixOf = (wanted: Head): string =>
  HEAD_OF_CLASS.find(([, head]) => head === wanted)?.[0] ?? ''

/** The fields of config.json. transformers 4 reads torch_dtype, rope_theta and rope_scaling,
 * transformers 5 dtype and rope_parameters; each ignores the other's. `max_position_embeddings`:
 * tokens of the longest sequence. */
export function hfConfig(
  config: ModelConfig,
  head: Head,
  { pad_token_id, eos_token_id }: Vocabulary,
  max_position_embeddings: number,
): Record<string, unknown> {
  // transformers takes the token that does not learn as an input from pad_token_id.
  const { rope_theta, rope_scaling, tie_word_embeddings, padding_idx: _, ...sizes } = config
  return {
    architectures: [`${CLASS_PREFIX[config.model_type]}${suffixOf(head)}`],
    ...sizes,
    // A critic and a reward model have no vocabulary head, so nothing is tied to the embedding.
    tie_word_embeddings: head === 'lm_head' && tie_word_embeddings,
    max_position_embeddings,
    hidden_act: 'silu',
    attention_bias: config.model_type === 'qwen2',
    attention_dropout: 0,
    initializer_range: 0.02,
    use_cache: true,
    use_sliding_window: false,
    sliding_window: null,
    layer_types: Array(config.num_hidden_layers).fill('full_attention'),
    rope_theta,
    ...(rope_scaling && { rope_scaling }),
    rope_parameters: { rope_theta, ...(rope_scaling ?? { rope_type: 'default' }) },
    bos_token_id: null,
    eos_token_id,
    pad_token_id,
    torch_dtype: 'float32',
    dtype: 'float32',
    // Hugging Face counts the entries of id2label; a critic without this line would have two labels
    // and dropout.
    ...(head !== 'lm_head' && {
      num_labels: 1,
      id2label: { 0: 'value' },
      label2id: { value: 0 },
      classifier_dropout: 0,
    }),
  }
}

/** The fields of generation_config.json: what generation starts from where nobody says
 * otherwise. */
export const generationConfig = ({ pad_token_id, eos_token_id, eos_token_ids }: Vocabulary) => ({
  do_sample: true,
  temperature: 1,
  top_p: 1,
  top_k: 0,
  bos_token_id: null,
  eos_token_id: eos_token_ids && eos_token_ids.length > 1 ? eos_token_ids : eos_token_id,
  pad_token_id,
})
