// Holds a model that came from elsewhere, on a device of its own: what every layer would say next
// at every position of any text, and what the whole model writes.

import type { LoadOptions } from '../../formats/weight_stream.ts'
import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import { GpuError, memorySize } from '../../kernels/device/base/errors.ts'
import { type Allocator, MemoryPlan } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { SOON_COMPILED } from '../../kernels/matmul/matmul_variants.ts'
import type { OpenHfModel } from '../../model/hf/hf_model.ts'
import { tokenMeans } from '../../model/internals/internal_quantities.ts'
import { recordInternals } from '../../model/internals/internals.ts'
import {
  createInternals,
  type InternalsTensors,
  readInternals,
} from '../../model/internals/internals_tensors.ts'
import { createLens, type LensTensors } from '../../model/internals/lens.ts'
import {
  internalsWindow,
  recordLensWindow,
  type TextWindow,
  uploadWindow,
} from '../../model/internals/lens_window.ts'
import { type AdapterLayout, packAdapter, vectorName } from '../../model/layout/adapter_layout.ts'
import { type ModelConfig, modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { gpuSink } from '../../model/params/gpu_sink.ts'
import { writeParams } from '../../model/params/param_copies.ts'
import { createModel, uploadFrequencies } from '../../model/transformer/model.ts'
import { createWorkspace } from '../../model/transformer/workspace.ts'
import { readLens } from './lens_texts.ts'
import { type Lens, MOST_READ } from './observation.ts'
import { createGeneration, Generation, MOST_PROMPT, MOST_WRITTEN } from './opened_generation.ts'
import { type TextParts, textParts } from './opened_parts.ts'
import { type DirectionPlace, OpenedSteering } from './opened_steering.ts'

/** Tokens of a text at most. */
const MOST_TEXT = MOST_PROMPT + MOST_WRITTEN
const CHANGES = ['dH_attn', 'dH_ffn'] as const

/** What a device must give for a model. `open` gets the largest tensor and all bytes. */
export type OpenDevice = (plan: {
  readonly largest: { readonly label: string; readonly bytes: number }
  readonly bytes: number
}) => Promise<Gpu>

export interface OpenOptions extends LoadOptions {
  /** By layer, 0 to L: added to the states after it at every token of every pass. Absent =
   * nothing. */
  readonly vectors?: readonly Float32Array[] | undefined
  /** Compile what writes while the weights are read: somebody waits for the first words. */
  readonly writesSoon?: boolean
}

/** How much attention and feed-forward of each block change the entropy (BuPO, eqs. 11 to 13),
 * means over positions, [L], nats. */
export interface EntropyChanges {
  readonly dH_attn: readonly number[]
  readonly dH_ffn: readonly number[]
}

/** One model. It holds its device until it is closed. */
export class OpenedModel {
  readonly #gpu: Gpu
  readonly #plain: Generation
  readonly #eosTokenIds: readonly number[]
  #steered: { readonly steering: OpenedSteering; readonly generation: Generation } | undefined
  #isSteered = false
  readonly #made: ReturnType<typeof create>
  #lens: Program<'tokens'> | undefined
  #changes: Program<'tokens'> | undefined

  private constructor(gpu: Gpu, made: ReturnType<typeof create>, eosTokenIds: readonly number[]) {
    this.#gpu = gpu
    this.#made = made
    this.#eosTokenIds = eosTokenIds
    this.#plain = new Generation(gpu, made.model, made.rollout, eosTokenIds)
  }

  /** What writes: with the direction, where there is one. */
  get generation(): Generation {
    return (this.#isSteered && this.#steered?.generation) || this.#plain
  }

  /** From here on the model writes with a direction between two texts, once `steer` says where and
   * how strongly; without texts, without one. Returns the size of each layer's vector. */
  async direct(
    texts: readonly [toward: readonly number[], away: readonly number[]] | undefined,
  ): Promise<readonly number[]> {
    this.#isSteered = false
    if (!texts) return []
    const { model, rollout } = this.#made
    if (!this.#steered) {
      const steering = new OpenedSteering(this.#gpu, model)
      const generation = new Generation(this.#gpu, steering.model, rollout, this.#eosTokenIds)
      this.#steered = { steering, generation }
    }
    const sizes = await this.#steered.steering.direct(model, ...texts)
    this.#isSteered = true
    return sizes
  }

  /** From the next tokens on. Throws RangeError where there is no direction, or no such layer. */
  steer(place: DirectionPlace): void {
    if (!this.#isSteered || !this.#steered)
      throw new RangeError('There is no direction: give two texts first.')
    this.#steered.steering.place(place)
  }

  /** The adapter that it is on, in words. */
  get adapter(): string {
    return this.#gpu.facts.description
  }

  /** GPU memory that it holds. */
  get bytes(): number {
    return this.#gpu.counts.live_bytes
  }

  /** Allocates everything and reads the weights. Throws GpuError too_large where a tensor does not
   * fit the adapter, out_of_memory where the GPU has no room, and what `open` and the files
   * throw. */
  static async open(
    hf: OpenHfModel,
    open: OpenDevice,
    { vectors, writesSoon = false, ...options }: OpenOptions = {},
  ): Promise<OpenedModel> {
    const outline = vectors ? { ...hf, config: withVectors(hf.config, vectors) } : hf
    const gpu = await open(planOpened(outline))
    try {
      const made = create(gpu, outline, gpu.facts.is_software)
      // What there is no room for is known before the first byte is read.
      await gpu.finish()
      const { model } = made
      const { weights, adapter } = model
      uploadFrequencies(gpu, model)
      if (adapter && vectors)
        writeParams(gpu, adapter.buffers, packVectors(adapter.layout, vectors))
      const opened = new OpenedModel(gpu, made, hf.eos_token_ids)
      // What fails here fails again, and is said, where a text is asked for.
      if (writesSoon) opened.generation.prepare().catch(() => {})
      await hf.load(gpuSink(gpu, hf.layout, weights.buffers), options)
      await gpu.finish()
      return opened
    } catch (error) {
      gpu.destroy()
      throw error
    }
  }

  /** What every layer says at a window of a text. Throws RangeError for one that does not fit,
   * GpuError for a lost device. */
  async look(window: TextWindow, tokens: readonly string[]): Promise<Lens> {
    this.#check(window)
    const { model, lens } = this.#made
    const { ids, first, count } = window
    this.#lens ??= await this.#gpu.record('opened_lens', ['tokens'], (r) =>
      recordLensWindow(r, model, lens),
    )
    uploadWindow(this.#gpu, lens, window)
    this.#gpu.replay(this.#lens, { tokens: ids.length })
    const outputs = await this.#gpu.read(lens.values, lens.ids)
    const own = ids.slice(first, first + count)
    const prompt = own.map((id) => tokens[id] ?? `<${id}>`).join('')
    const sample = { prompt, response: '', is_ended: false }
    const text = { sample, ids: own, prompt_length: own.length, is_held_out: false }
    return readLens(lens, outputs, [text], tokens)[0]
  }

  /** How much every block changes the entropy at a window of a text. */
  async changes(window: TextWindow): Promise<EntropyChanges> {
    this.#check(window)
    const { model, internals } = this.#made
    this.#changes ??= await this.#gpu.record('opened_changes', ['tokens'], (r) =>
      recordInternals(r, model, internals, ({ tokens }) => tokens),
    )
    uploadWindow(this.#gpu, internalsWindow(internals), window)
    this.#gpu.replay(this.#changes, { tokens: window.ids.length })
    const { dH_attn = [], dH_ffn = [] } = tokenMeans(await readInternals(this.#gpu, internals))
    return { dH_attn: [...dH_attn], dH_ffn: [...dH_ffn] }
  }

  /** What switching each part off does for a text. Throws RangeError for one that does not fit. */
  async parts(ids: readonly number[], signal?: AbortSignal): Promise<TextParts> {
    this.#check({ ids, first: 0, count: ids.length })
    return textParts(this.#gpu, this.#made.model, ids, signal)
  }

  #check({ ids, count }: TextWindow): void {
    const { vocab_size } = this.#made.model.shape
    if (ids.length <= MOST_TEXT && count > MOST_READ)
      throw new RangeError(
        `Expected a text of 1 to ${MOST_READ} tokens, found ${count}. Write it to the model to look at parts of longer ones.`,
      )
    if (ids.length === 0 || ids.length > MOST_TEXT)
      throw new RangeError(`Expected a text of 1 to ${MOST_TEXT} tokens, found ${ids.length}.`)
    const strange = ids.find((id) => id >= vocab_size)
    if (strange !== undefined)
      throw new RangeError(`Expected token ids below ${vocab_size}, found ${strange}.`)
  }

  close(): void {
    this.#gpu.destroy()
  }
}

/** The model with vectors at the layers that have one. Throws RangeError for vectors of a model of
 * another size. */
function withVectors(config: ModelConfig, vectors: readonly Float32Array[]): ModelConfig {
  const { num_hidden_layers: L, hidden_size: C } = config
  if (vectors.length !== L + 1 || vectors.some(({ length }) => length !== C))
    throw new RangeError(
      `Expected ${L + 1} vectors of ${C} numbers, found ${vectors.length} of ${vectors[0]?.length}.`,
    )
  const layers = vectors.flatMap((vector, layer) => (vector.some((x) => x !== 0) ? [layer] : []))
  return layers.length > 0 ? { ...config, steering_vectors: { layers } } : config
}

const packVectors = (layout: AdapterLayout, vectors: readonly Float32Array[]): Float32Array =>
  packAdapter(
    layout,
    Object.fromEntries(vectors.map((vector, layer) => [vectorName(layer), vector] as const)),
  )

/** What is known of a model before its weights are. */
export type ModelOutline = Pick<OpenHfModel, 'config' | 'layout' | 'exactDtype'>

/** What a model takes to be looked into and written with: known from its config alone. */
export function planOpened(facts: ModelOutline): {
  readonly largest: { readonly label: string; readonly bytes: number }
  readonly bytes: number
} {
  const plan = new MemoryPlan()
  create(plan, facts, false)
  return { largest: plan.largest, bytes: plan.total() }
}

/** Weights up to which a model writes its first words sooner on kernels that compile soon, on an
 * adapter where compiling takes seconds: few tokens pass, and each passes quickly. */
const MOST_SOON = 4_000_000

/** Everything on the device, or in a plan. Matrices that are bfloat16 in the files stay so: half
 * the memory, decoded exactly. */
function create(
  alloc: Allocator,
  { config, layout: { head }, exactDtype }: ModelOutline,
  isSoftware: boolean,
) {
  const layout = paramLayout(modelShape({ ...config, dtype: exactDtype }), head)
  const { shape } = layout
  const matmul = isSoftware && layout.size <= MOST_SOON ? { '*': SOON_COMPILED } : undefined
  const model = createModel(alloc, layout, 'none', { matmul })
  const size = { rows: 1, width: MOST_TEXT, response_length: 0, trains: false }
  const ws = createWorkspace(alloc, shape, size)
  const lens: LensTensors = createLens(alloc, shape, { texts: 1, width: MOST_READ, ws })
  const internals: InternalsTensors<(typeof CHANGES)[number]> = createInternals(alloc, shape, ws, {
    quantities: CHANGES,
    positions: 'response',
    window: MOST_READ,
  })
  return { model, lens, internals, rollout: createGeneration(alloc, model) }
}

/** Refuses a model that takes more memory than there may be. */
export function requireRoom(bytes: number, allowed: number): void {
  if (bytes <= allowed) return
  throw new GpuError(
    'too_large',
    `The model takes ${memorySize(bytes)} of GPU memory here, where it may take ${memorySize(allowed)}. Choose a smaller model.`,
  )
}
