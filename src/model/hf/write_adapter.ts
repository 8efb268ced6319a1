// Writes a LoRA adapter as the folder that PEFT, verl, TRL and vLLM load: the opposite of
// peft_adapter.ts.

import { jsonFile, type OutFile } from '../../formats/out_file.ts'
import { safetensorsPieces, type WrittenTensor } from '../../formats/safetensors_write.ts'
import type { LoraLayout } from '../layout/adapter_layout.ts'
import { TARGET_MODULES } from '../layout/lora.ts'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from './peft_config.ts'

/** An adapter to be written. */
export interface WrittenAdapter {
  readonly layout: LoraLayout
  /** In the flat layout. */
  readonly weights: Float32Array
  /** Where the base is: a folder beside the adapter's or a name on the hub. */
  readonly base_model_name_or_path: string
}

/** The version of PEFT whose files these are. */
const PEFT_VERSION = '0.21.0'

/** The files of an adapter's folder. Throws RangeError where the factors are not of the layout. */
export function adapterFiles({
  layout,
  weights,
  base_model_name_or_path,
}: WrittenAdapter): OutFile[] {
  if (weights.length !== layout.size)
    throw new RangeError(`adapter: expected ${layout.size} values, got ${weights.length}`)
  const { r, lora_alpha, use_rslora, target_modules, layers_to_transform } = layout.lora
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    peft_version: PEFT_VERSION,
    base_model_name_or_path,
    revision: null,
    inference_mode: true,
    r,
    lora_alpha,
    use_rslora,
    lora_dropout: 0,
    bias: 'none',
    // PEFT writes the names that it found.
    target_modules: target_modules === 'all-linear' ? TARGET_MODULES : target_modules,
    layers_to_transform,
    layers_pattern: null,
    rank_pattern: {},
    alpha_pattern: {},
    init_lora_weights: true,
    use_dora: false,
    fan_in_fan_out: false,
    modules_to_save: null,
  }
  const tensors = layout.params.map(({ name, shape, offset, size }): [string, WrittenTensor] => [
    name,
    { shape, data: weights.subarray(offset, offset + size) },
  ])
  const pieces = { [Symbol.iterator]: () => safetensorsPieces(tensors) }
  return [jsonFile(ADAPTER_CONFIG, config), { path: ADAPTER_WEIGHTS, pieces }]
}
