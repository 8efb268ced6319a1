// Reads adapter_config.json of Hugging Face's PEFT, and refuses by name what is not ours.
// Source: huggingface/peft 0.21, tuners/lora/config.py.

import { ModelFileError, shown } from '../../formats/errors.ts'
import { isFiniteNumber, isObject, type JsonObject } from '../../formats/json.ts'
import type { LoraConfig } from '../layout/config.ts'

export const ADAPTER_CONFIG = 'adapter_config.json'
export const ADAPTER_WEIGHTS = 'adapter_model.safetensors'
/** The largest rank that is read. */
const MOST_RANK = 4096

/** Fields that must be off: each would make more of the adapter than B·A, or change the base's
 * weights before training. */
const MUST_BE_OFF = [
  'use_dora',
  'lora_bias',
  'fan_in_fan_out',
  'use_qalora',
  'use_bdlora',
  'modules_to_save',
  'target_parameters',
  'trainable_token_indices',
  'layer_replication',
  'alora_invocation_tokens',
  'arrow_config',
  'kasa_config',
  'monteclora_config',
  'velora_config',
  'lora_ga_config',
] as const
/** First values of A and B that leave the base's weights as they are. */
const INITS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'orthogonal', 'eva']

/** What decides on the factors of each module; which modules there are, the file of the factors
 * says. */
export interface AdapterConfig extends Pick<LoraConfig, 'r' | 'lora_alpha' | 'use_rslora'> {
  readonly rank_pattern: Readonly<Record<string, number>>
  readonly alpha_pattern: Readonly<Record<string, number>>
}

/** Reads the config. Throws ModelFileError naming the field for an adapter of another kind. */
export function parseAdapterConfig(json: JsonObject): AdapterConfig {
  const { peft_type, bias, init_lora_weights, r = 8, lora_alpha = 8, use_rslora = false } = json
  if (peft_type !== 'LORA') throw wrong('peft_type', '"LORA"', peft_type)
  if (bias !== undefined && bias !== 'none') throw wrong('bias', '"none"', bias)
  for (const field of MUST_BE_OFF)
    if (!isOff(json[field])) throw wrong(field, 'none: it is not read here', json[field])
  if (!INITS.includes(init_lora_weights))
    throw wrong('init_lora_weights', 'one that leaves the base model as it is', init_lora_weights)
  if (!isRank(r)) throw wrong('r', `a whole number from 1 to ${MOST_RANK}`, r)
  if (!isFiniteNumber(lora_alpha)) throw wrong('lora_alpha', 'a finite number', lora_alpha)
  if (typeof use_rslora !== 'boolean') throw wrong('use_rslora', 'true or false', use_rslora)
  return {
    r,
    lora_alpha,
    use_rslora,
    rank_pattern: patterns(json, 'rank_pattern'),
    alpha_pattern: patterns(json, 'alpha_pattern'),
  }
}

const wrong = (field: string, expected: string, found: unknown) =>
  new ModelFileError(ADAPTER_CONFIG, `${field}: expected ${expected}, found ${shown(found)}`)

const isOff = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0)

/** JSON writes 1e999, which is read as Infinity. */
const isRank = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST_RANK

/** Numbers by the end of a module's name. PEFT reads the names as regular expressions; those that
 * are none are read here. */
function patterns(json: JsonObject, field: string): Readonly<Record<string, number>> {
  const found = json[field] ?? {}
  if (!isObject(found)) throw wrong(field, 'an object', found)
  for (const [name, value] of Object.entries(found)) {
    if (!isFiniteNumber(value)) throw wrong(`${field}.${name}`, 'a finite number', value)
    if (!/^[\w.]+$/.test(name)) throw wrong(field, 'names of modules', name)
  }
  return found as Readonly<Record<string, number>>
}

/** The value of the first name that a module's ends with. */
export function patternOf(
  found: Readonly<Record<string, number>>,
  module: string,
  usual: number,
): number {
  const name = Object.keys(found).find((end) => module === end || module.endsWith(`.${end}`))
  return name === undefined ? usual : found[name]
}
