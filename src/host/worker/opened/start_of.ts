// Turns an opened model into what an experiment begins with.

import { loraFields } from '../../../document/experiment/fields/lora_fields.ts'
import type { LoraConfig, MatrixDtype, ModelConfig } from '../../../model/layout/config.ts'
import { USUAL_LORA } from '../../../model/layout/lora.ts'
import { type ModelFile, modelHash, modelList } from '../../content/models/model_files.ts'
import type { ModelStart, StartList } from '../../protocol/opened_model.ts'

/** What is known of the model. */
interface StartModel {
  /** Where it was fetched; '' where it is a folder of this machine. */
  readonly address: string
  readonly config: ModelConfig
  readonly exactDtype: MatrixDtype
  /** It would not fit without: the run has it. */
  readonly enable_gradient_checkpointing: boolean
  /** Of its files, and of its adapter's. */
  readonly lists: readonly StartList[]
  /** The files of its tokenizer by their names. */
  readonly tokenizer: Readonly<Record<string, string>>
}

/** Throws RangeError for a model that can be looked into and not trained. */
export function requireTrainable(name: string, { rope_scaling }: ModelConfig): void {
  if (rope_scaling)
    throw new RangeError(
      `${name} slows its rotary positions down (rope_scaling), which a training has no field for. It can be looked into and written with.`,
    )
}

/** `adapter`: what is trained in place of the weights: the one of the model's second list, a fresh
 * one, or none. */
export function startOf(
  { address, config, exactDtype, enable_gradient_checkpointing, lists, tokenizer }: StartModel,
  adapter: LoraConfig | 'fresh' | undefined,
): ModelStart {
  const { rope_scaling: _, padding_idx = null, lora: __, dtype: ___, ...rest } = config
  const { steering_vectors: ____, ...sizes } = rest
  const [own, theirs] = lists
  const lora = loraFields(typeof adapter === 'object' ? adapter : USUAL_LORA)
  const { hash, name } = own
  const fields = {
    ...sizes,
    padding_idx,
    dtype: adapter ? exactDtype : 'float32',
    source: hash,
    source_name: name,
    source_address: address,
    // Where it fits without, the settings stay as they are.
    ...(enable_gradient_checkpointing && { enable_gradient_checkpointing }),
    lora: {
      ...lora,
      ...(adapter ? {} : { r: 0 }),
      ...(theirs && { source: theirs.hash, source_name: theirs.name }),
    },
  }
  return { hash, name, fields, tokenizer, lists }
}

/** A folder's files as an experiment names them. */
export const listOf = (name: string, files: readonly ModelFile[]): StartList => ({
  name,
  hash: modelHash(files),
  list: modelList(files),
})
