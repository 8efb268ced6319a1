// Reads a LoRA adapter of Hugging Face's PEFT: its factors, and the model that they are merged
// into. Source: huggingface/peft 0.21, tuners/lora/layer.py (Linear.get_delta_weight),
// utils/save_and_load.py.

import { ModelFileError, shown } from '../../formats/errors.ts'
import { readFloats } from '../../formats/safetensors.ts'
import { type OpenSafetensors, openSafetensors } from '../../formats/safetensors_header.ts'
import type { LoraConfig } from '../layout/config.ts'
import { factorNames, loraScale, TARGET_MODULES } from '../layout/lora.ts'
import { type ModuleFactors, mergeFactors, mergePiece } from '../layout/merge.ts'
import type { ParamLayout } from '../layout/params.ts'
import { type FileSource, type HfModel, type OpenHfModel, readJson } from './hf_model.ts'
import {
  ADAPTER_CONFIG,
  ADAPTER_WEIGHTS,
  type AdapterConfig,
  parseAdapterConfig,
  patternOf,
} from './peft_config.ts'

/** What PEFT puts before the base model's own names, with and without the adapter's name. */
const FACTOR = /^base_model\.model\.(.+)\.lora_([AB])(?:\.default)?\.weight$/

/** An adapter as it is trained: its settings, and its factors by PEFT's names (factorNames). */
export interface PeftAdapter {
  readonly lora: LoraConfig
  readonly factors: Readonly<Record<string, Float32Array>>
}

/** The model with the adapter of `source` merged in: a copy, summed in float64 and rounded to
 * float32 once. Throws ModelFileError naming the field or the tensor for an adapter of another
 * kind, or of another model. */
export async function withAdapter(model: HfModel, source: FileSource): Promise<HfModel> {
  const { modules } = await readFactors(source, model.layout)
  const weights = model.weights.slice()
  for (const factors of modules.values()) mergeFactors(weights, factors)
  return { ...model, weights }
}

/** The same of a model whose weights have not been read: each piece is merged on its way, so that
 * beside it only the factors are in memory. Throws at once what withAdapter throws. */
export async function openWithAdapter(
  model: OpenHfModel,
  source: FileSource,
): Promise<OpenHfModel> {
  const { modules } = await readFactors(source, model.layout)
  const changed = new Map([...modules.values()].map((own) => [own.param.name, own]))
  return {
    ...model,
    // What is merged has more digits than bfloat16.
    exactDtype: 'float32',
    load: (sink, options) =>
      model.load(
        {
          write: (param, first, values) => {
            const own = changed.get(param)
            if (own) mergePiece(values, first, own)
            return sink.write(param, first, values)
          },
        },
        options,
      ),
  }
}

/** The adapter of `source`, to train it further on the model of that layout. Throws ModelFileError
 * as withAdapter does, and where modules have ranks or alphas of their own. */
export async function readAdapter(source: FileSource, layout: ParamLayout): Promise<PeftAdapter> {
  const { config, modules } = await readFactors(source, layout)
  const { r, lora_alpha, use_rslora } = config
  const scale = loraScale(config)
  for (const [module, own] of modules)
    if (own.rank !== r || own.scale !== scale)
      throw new ModelFileError(
        ADAPTER_CONFIG,
        `expected one rank and one alpha to train with, found others for ${module}`,
      )
  return {
    lora: { r, lora_alpha, use_rslora, ...targetsOf([...modules.keys()], layout) },
    factors: Object.fromEntries(
      [...modules].flatMap(([module, { A, B }]) => {
        const names = factorNames(module)
        return [
          [names.A, A],
          [names.B, B],
        ]
      }),
    ),
  }
}

/** All factors of an adapter by module. Throws ModelFileError where there are none. */
async function readFactors(
  source: FileSource,
  layout: ParamLayout,
): Promise<{ config: AdapterConfig; modules: ReadonlyMap<string, ModuleFactors> }> {
  const json = await readJson(source, ADAPTER_CONFIG)
  if (!json) throw new ModelFileError(ADAPTER_CONFIG, 'expected a file, found none')
  const config = parseAdapterConfig(json)
  const bytes = await source.read(ADAPTER_WEIGHTS)
  if (!bytes)
    throw new ModelFileError(
      ADAPTER_WEIGHTS,
      'expected a file (only safetensors are read), found none',
    )
  const modules = modulesOf(openSafetensors(bytes, ADAPTER_WEIGHTS), layout, config)
  if (modules.size === 0)
    throw new ModelFileError(
      ADAPTER_WEIGHTS,
      'expected lora_A and lora_B of a projection, found none',
    )
  return { config, modules }
}

/** The shortest way to say which modules an adapter has: short names and blocks, or else every
 * path. */
function targetsOf(
  modules: readonly string[],
  { shape: { num_hidden_layers } }: ParamLayout,
): Pick<LoraConfig, 'target_modules' | 'layers_to_transform'> {
  const parts = modules.map((module) => module.split('.'))
  const own = new Set(parts.map((path) => path[path.length - 1]))
  const names = TARGET_MODULES.filter((name) => own.has(name))
  const layers = [...new Set(parts.map((path) => Number(path[2])))].sort((a, b) => a - b)
  if (modules.length !== names.length * layers.length)
    return { target_modules: modules, layers_to_transform: null }
  return {
    target_modules: names.length === TARGET_MODULES.length ? 'all-linear' : names,
    layers_to_transform: layers.length === num_hidden_layers ? null : layers,
  }
}

function refuse(name: string, expected: string, found: unknown): never {
  throw new ModelFileError(
    ADAPTER_WEIGHTS,
    `tensor ${shown(name)}: expected ${expected}, found ${found}`,
  )
}

/** A and B of every module of the file, with the parameter that they change. */
function modulesOf(
  opened: OpenSafetensors,
  layout: ParamLayout,
  config: AdapterConfig,
): ReadonlyMap<string, ModuleFactors> {
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
      if (param?.shape.length !== 2 || !module.endsWith('_proj'))
        return refuse(first, 'a projection of this model', `${module}, which is none of its own`)
      if (A === undefined || B === undefined)
        return refuse(first, 'lora_A and lora_B', `only ${A === undefined ? 'lora_B' : 'lora_A'}`)
      const rank = patternOf(config.rank_pattern, module, config.r)
      const lora_alpha = patternOf(config.alpha_pattern, module, config.lora_alpha)
      const scale = loraScale({ r: rank, lora_alpha, use_rslora: config.use_rslora })
      const [out, columns] = param.shape
      const read = (name: string, ...shape: readonly number[]) => factorOf(opened, name, shape)
      const factors = { param, rank, scale, A: read(A, rank, columns), B: read(B, out, rank) }
      if (!(largestChange(factors) < MOST_CHANGE))
        refuse(first, 'factors whose product is a float32', 'a product that is not finite')
      return [module, factors]
    }),
  )
}

function factorOf(opened: OpenSafetensors, name: string, shape: readonly number[]): Float32Array {
  const own = opened.entries.get(name)?.shape ?? []
  if (own.length !== 2 || own.some((size, i) => size !== shape[i]))
    refuse(name, shown(shape), shown(own))
  const values = new Float32Array(shape[0] * shape[1])
  readFloats(opened, name, values)
  const wrong = values.find((value) => !Number.isFinite(value))
  if (wrong !== undefined) refuse(name, 'finite numbers', `${wrong}, which is not finite`)
  return values
}

/** Half of the largest float32: a weight of the base is added to it. */
const MOST_CHANGE = 1.7e38

const largest = (values: Float32Array) =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** What the product adds to no weight more than, in size. */
const largestChange = ({ scale, rank, A, B }: ModuleFactors): number =>
  Math.abs(scale) * rank * largest(A) * largest(B)
