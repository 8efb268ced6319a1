// Declares the fields of a LoRA adapter that is trained on a frozen model: PEFT's names.

import type { LoraConfig } from '../../../model/layout/config.ts'
import { TARGET_MODULES } from '../../../model/layout/lora.ts'
import { boolean, integer, number, type Tree, text } from '../../../rl/fields/field.ts'

/** PEFT's LoraConfig; lists are text here, as a form has them. */
export interface LoraFields {
  /** 0 = no adapter, as verl's lora_rank has it: a matrix of rank 0 adds nothing. */
  readonly r: number
  readonly lora_alpha: number
  readonly use_rslora: boolean
  /** 'all-linear', or names of modules with commas. */
  readonly target_modules: string
  /** Whole numbers with commas, counted from 0; null = all. */
  readonly layers_to_transform: string | null
  /** The hash of the adapter whose factors a run begins with; null = fresh ones from the seed. */
  readonly source: string | null
  readonly source_name: string | null
}

const ALL_LINEAR = 'all-linear'
/** The names in a list with commas. */
export const namesOf = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
/** Whole numbers with commas. */
export const LAYERS = /^\s*\d{1,3}\s*(,\s*\d{1,3}\s*)*$/

/** Whether a list names modules that an adapter can have: short names, or whole paths as PEFT
 * writes few of them. */
function namesModules(list: string): boolean {
  if (list.trim() === ALL_LINEAR) return true
  const names = namesOf(list)
  const isModule = (name: string) =>
    /^(model\.layers\.\d+\.(self_attn|mlp)\.)?\w+$/.test(name) &&
    (TARGET_MODULES as readonly string[]).includes(name.split('.').at(-1) ?? '')
  return names.length > 0 && names.every(isModule)
}

/** The adapter as the model's config has it; undefined where there is none. */
export function loraOf({
  r,
  target_modules,
  layers_to_transform,
  source: _,
  source_name: __,
  ...fields
}: LoraFields): LoraConfig | undefined {
  if (r === 0) return undefined
  const isAll = target_modules.trim() === ALL_LINEAR
  return {
    ...fields,
    r,
    target_modules: isAll ? ALL_LINEAR : namesOf(target_modules),
    layers_to_transform:
      layers_to_transform === null ? null : namesOf(layers_to_transform).map(Number),
  }
}

/** A fresh adapter's settings as an experiment writes them. */
export const loraFields = ({
  target_modules,
  layers_to_transform,
  ...lora
}: LoraConfig): LoraFields => ({
  ...lora,
  target_modules: typeof target_modules === 'string' ? target_modules : target_modules.join(),
  layers_to_transform: layers_to_transform?.join() ?? null,
  source: null,
  source_name: null,
})

/** Characters of `source_name`. */
export const MOST_NAME = 120
/** Of the file or the model of a hash. */
export const SOURCE_NAME = text({
  label: 'Its name',
  help: 'What a person calls it; the hash alone decides which one it is.',
  default: null,
  none: '',
  max: MOST_NAME,
})
/** The field of a hash. */
export const hashField = (label: string, help: string) =>
  text(
    { label, help, default: null, none: '', max: 'sha256-'.length + 64 },
    {
      holds: (hash) => /^sha256-[0-9a-f]{64}$/.test(hash),
      expected: 'sha256- and 64 hexadecimal digits',
    },
  )

/** The `model.lora` section. */
export const LORA: Tree<LoraFields> = {
  r: integer({
    label: 'LoRA rank',
    help: 'Rank of a LoRA adapter that is trained on a frozen model in place of its weights; 0 = no adapter.',
    default: 0,
    min: 0,
    max: 256,
  }),
  lora_alpha: number({
    label: 'LoRA alpha',
    help: 'What the adapter adds is multiplied by alpha / rank.',
    default: 16,
    min: 0.01,
    max: 1024,
  }),
  use_rslora: boolean({
    label: 'Rank-stabilised scale',
    help: 'Whether the adapter is scaled by alpha / √rank in place of alpha / rank.',
    default: false,
  }),
  target_modules: text(
    {
      label: 'Adapted modules',
      help: 'Which matrices the adapter changes: all-linear, or names with commas, such as q_proj,v_proj.',
      default: ALL_LINEAR,
      max: 4000,
    },
    {
      holds: namesModules,
      expected: `all-linear, or names with commas out of ${TARGET_MODULES.join(', ')}`,
    },
  ),
  layers_to_transform: text(
    {
      label: 'Adapted layers',
      help: 'Layers that have an adapter, with commas, counted from 0 as PEFT counts them; none = all.',
      default: null,
      none: '',
      max: 100,
    },
    {
      holds: (list) => LAYERS.test(list),
      expected: 'whole numbers from 0 on, with commas',
    },
  ),
  source: hashField(
    'Adapter begins with',
    'The hash of the opened adapter whose factors a run begins with; none = fresh ones, which change nothing.',
  ),
  source_name: SOURCE_NAME,
}
