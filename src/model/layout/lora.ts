// Describes a LoRA adapter: y = W x + scale · B A x on chosen projections of chosen blocks, with
// the base W frozen. Source: Hu et al. 2021, arXiv 2106.09685; names and rules as in
// huggingface/peft 0.21, tuners/lora/config.py and tuners/tuners_utils.py.
import type { LoraConfig, ModelShape } from './config.ts'

/** The projections of a block by their Hugging Face names, in the order in which the model's
 * products hold their rows. */
export const TARGET_MODULES = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const
export type TargetModule = (typeof TARGET_MODULES)[number]

/** PEFT's defaults, for every linear layer. */
export const USUAL_LORA: LoraConfig = {
  r: 8,
  lora_alpha: 16,
  use_rslora: false,
  target_modules: 'all-linear',
  layers_to_transform: null,
}

/** What B A x is multiplied by. */
export const loraScale = ({
  r,
  lora_alpha,
  use_rslora,
}: Pick<LoraConfig, 'r' | 'lora_alpha' | 'use_rslora'>): number =>
  lora_alpha / (use_rslora ? Math.sqrt(r) : r)

/** A module's own path inside its block. */
export const modulePath = (module: TargetModule): string =>
  `${/^(gate|up|down)/.test(module) ? 'mlp' : 'self_attn'}.${module}`

/** The names that PEFT gives A and B of a module. */
export const factorNames = (module: string): { readonly A: string; readonly B: string } => ({
  A: `base_model.model.${module}.lora_A.weight`,
  B: `base_model.model.${module}.lora_B.weight`,
})

/** Whether an adapter changes a projection of block `layer`, counted from 0. */
export function isAdapted(
  { target_modules, layers_to_transform }: LoraConfig,
  layer: number,
  module: TargetModule,
): boolean {
  if (layers_to_transform && !layers_to_transform.includes(layer)) return false
  if (target_modules === 'all-linear') return true
  const path = `model.layers.${layer}.${modulePath(module)}`
  return target_modules.some((name) => path === name || path.endsWith(`.${name}`))
}

/** Whether an adapter changes anything in block `layer`, counted from 0. */
export const isAdaptedBlock = (lora: LoraConfig, layer: number): boolean =>
  TARGET_MODULES.some((module) => isAdapted(lora, layer, module))

/** [out, in] of a projection. */
export function moduleSize(
  {
    hidden_size: C,
    intermediate_size: F,
    attentionSize,
    num_key_value_heads,
    head_dim,
  }: ModelShape,
  module: TargetModule,
): readonly [out: number, columns: number] {
  if (module === 'q_proj') return [attentionSize, C]
  if (module === 'k_proj' || module === 'v_proj') return [num_key_value_heads * head_dim, C]
  if (module === 'o_proj') return [C, attentionSize]
  return module === 'down_proj' ? [C, F] : [F, C]
}
