// A LoRA adapter of Hugging Face's PEFT, merged into the model that it belongs to: W + scale · B·A for every projection that it names.
// Source: huggingface/peft 0.21, tuners/lora/config.py, tuners/lora/layer.py (Linear.get_delta_weight), utils/save_and_load.py.
import { isObject, type JsonObject, ModelFileError, shown } from '../params/errors.ts'
import type { Param } from '../params/flat_params.ts'
import { type FileSource, type HfModel, readJson } from './hf_model.ts'
import { readFloats } from './safetensors.ts'
import { type OpenSafetensors, openSafetensors } from './safetensors_header.ts'

const CONFIG = 'adapter_config.json'
const WEIGHTS = 'adapter_model.safetensors'
/** What PEFT puts before the base model's own names, with and without the adapter's name. */
const FACTOR = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/
/** The largest rank that is read. */
const MOST_RANK = 4096

/** Fields that must be off: each would make more of the adapter than B·A, or change the base's weights before training. */
const MUST_BE_OFF = [
  ...['use_dora', 'lora_bias', 'fan_in_fan_out', 'use_qalora', 'use_bdlora'],
  ...['modules_to_save', 'target_parameters', 'trainable_token_indices', 'layer_replication'],
  ...['alora_invocation_tokens', 'arrow_config', 'kasa_config', 'monteclora_config'],
  ...['velora_config', 'lora_ga_config'],
] as const
/** First values of A and B that leave the base's weights as they are. */
const INITS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'orthogonal', 'eva']

interface AdapterConfig {
  readonly r: number
  readonly lora_alpha: number
  readonly use_rslora: boolean
  readonly rank_pattern: Readonly<Record<string, number>>
  readonly alpha_pattern: Readonly<Record<string, number>>
}

/** A and B of one projection, [rank, in] and [out, rank]. */
interface Factors {
  readonly A: string
  readonly B: string
  readonly param: Param
  readonly rank: number
}

/**
 * The model with the adapter of `source` merged in: a copy, summed in float64 and rounded to float32 once. Throws ModelFileError
 * naming the field or the tensor for an adapter of another kind, or of another model.
 */
export async function withAdapter(model: HfModel, source: FileSource): Promise<HfModel> {
  const json = await readJson(source, CONFIG)
  if (!json) throw new ModelFileError(CONFIG, 'expected a file, found none')
  const config = parseConfig(json)
  const bytes = await source.read(WEIGHTS)
  if (!bytes)
    throw new ModelFileError(WEIGHTS, 'expected a file (only safetensors are read), found none')
  const opened = openSafetensors(bytes, WEIGHTS)
  const found = factorsOf(opened, model, config)
  const weights = model.weights.slice()
  for (const [module, factors] of found)
    merge(weights, opened, factors, scaleOf(config, module, factors))
  return { ...model, weights }
}

const wrong = (field: string, expected: string, found: unknown) =>
  new ModelFileError(CONFIG, `${field}: expected ${expected}, found ${shown(found)}`)

const isOff = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0)

function parseConfig(json: JsonObject): AdapterConfig {
  const { peft_type, bias, init_lora_weights, r = 8, lora_alpha = 8, use_rslora = false } = json
  if (peft_type !== 'LORA') throw wrong('peft_type', '"LORA"', peft_type)
  if (bias !== undefined && bias !== 'none') throw wrong('bias', '"none"', bias)
  for (const field of MUST_BE_OFF)
    if (!isOff(json[field])) throw wrong(field, 'none: it is not read here', json[field])
  if (!INITS.includes(init_lora_weights))
    throw wrong('init_lora_weights', 'one that leaves the base model as it is', init_lora_weights)
  if (!isRank(r)) throw wrong('r', `a whole number from 1 to ${MOST_RANK}`, r)
  if (typeof lora_alpha !== 'number') throw wrong('lora_alpha', 'a number', lora_alpha)
  if (typeof use_rslora !== 'boolean') throw wrong('use_rslora', 'true or false', use_rslora)
  return {
    ...{ r, lora_alpha, use_rslora },
    rank_pattern: patterns(json, 'rank_pattern'),
    alpha_pattern: patterns(json, 'alpha_pattern'),
  }
}

const isRank = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST_RANK

/** Numbers by the end of a module's name. PEFT reads the names as regular expressions; those that are none are read here. */
function patterns(json: JsonObject, field: string): Readonly<Record<string, number>> {
  const found = json[field] ?? {}
  if (!isObject(found)) throw wrong(field, 'an object', found)
  for (const [name, value] of Object.entries(found)) {
    if (typeof value !== 'number') throw wrong(`${field}.${name}`, 'a number', value)
    if (!/^[\w.]+$/.test(name)) throw wrong(field, 'names of modules', name)
  }
  return found as Readonly<Record<string, number>>
}

/** The value of the first name that a module's ends with. */
function patternOf(found: Readonly<Record<string, number>>, module: string, usual: number): number {
  const name = Object.keys(found).find((end) => module === end || module.endsWith(`.${end}`))
  return name === undefined ? usual : found[name]
}

function scaleOf(config: AdapterConfig, module: string, { rank }: Factors): number {
  const alpha = patternOf(config.alpha_pattern, module, config.lora_alpha)
  return alpha / (config.use_rslora ? Math.sqrt(rank) : rank)
}

/** A and B of every module of the file, with the parameter that they change. */
function factorsOf(
  opened: OpenSafetensors,
  { layout }: HfModel,
  config: AdapterConfig,
): ReadonlyMap<string, Factors> {
  const refuse = (name: string, expected: string, found: unknown): never => {
    throw new ModelFileError(WEIGHTS, `tensor ${shown(name)}: expected ${expected}, found ${found}`)
  }
  const named = new Map<string, { A?: string; B?: string }>()
  for (const name of opened.entries.keys()) {
    const [, module, factor] = FACTOR.exec(name) ?? []
    if (module === undefined)
      refuse(name, 'lora_A and lora_B of the projections of a model', 'this one')
    named.set(module, { ...named.get(module), [factor]: name })
  }
  const params = new Map(layout.params.map((param) => [param.name, param]))
  return new Map(
    [...named].map(([module, { A, B }]) => {
      const param = params.get(`${module}.weight`)
      const first = A ?? B ?? module
      if (param?.shape.length !== 2 || module.endsWith('embed_tokens'))
        return refuse(first, 'a projection of this model', `${module}, which is none of its own`)
      if (A === undefined || B === undefined)
        return refuse(first, 'lora_A and lora_B', `only ${A === undefined ? 'lora_B' : 'lora_A'}`)
      const rank = patternOf(config.rank_pattern, module, config.r)
      const [out, columns] = param.shape
      for (const [name, shape] of [
        [A, [rank, columns]],
        [B, [out, rank]],
      ] as const) {
        const own = opened.entries.get(name)?.shape ?? []
        if (own.length !== 2 || own.some((size, i) => size !== shape[i]))
          refuse(name, shown(shape), shown(own))
      }
      return [module, { A, B, param, rank }] as const
    }),
  )
}

function merge(
  weights: Float32Array,
  opened: OpenSafetensors,
  { A, B, param, rank }: Factors,
  scale: number,
): void {
  const [out, columns] = param.shape
  const [a, b] = [new Float32Array(rank * columns), new Float32Array(out * rank)]
  readFloats(opened, A, a)
  readFloats(opened, B, b)
  const row = new Float64Array(columns)
  for (let o = 0; o < out; o++) {
    row.fill(0)
    for (let k = 0; k < rank; k++) {
      const factor = scale * b[o * rank + k]
      for (let i = 0; i < columns; i++) row[i] += factor * a[k * columns + i]
    }
    const at = param.offset + o * columns
    for (let i = 0; i < columns; i++) weights[at + i] += row[i]
  }
}
