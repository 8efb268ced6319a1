// A model that came from elsewhere, on a device of its own: what every layer would say next at every position of any text.
import { GpuError } from '../../kernels/device/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Program } from '../../kernels/device/program.ts'
import { type Allocator, MemoryPlan } from '../../kernels/device/tensor.ts'
import type { HfModel } from '../../model/hf/hf_model.ts'
import { createLens, type LensTensors, recordLens, uploadLens } from '../../model/internals/lens.ts'
import { createModel, uploadModel } from '../../model/transformer/model.ts'
import { readLens } from './lens_texts.ts'
import type { Lens } from './observation.ts'

/** Tokens of a text at most: each is a column of a grid. */
const MOST_TOKENS = 64

/** What a device must give for a model. `open` gets the largest tensor and all bytes. */
export type OpenDevice = (plan: {
  readonly largest: { readonly label: string; readonly bytes: number }
  readonly bytes: number
}) => Promise<Gpu>

/** One model. It holds its device until it is closed. */
export class OpenedModel {
  readonly #gpu: Gpu
  readonly #lens: LensTensors
  readonly #program: Program<'text'>
  readonly #vocab_size: number

  private constructor(gpu: Gpu, lens: LensTensors, program: Program<'text'>) {
    this.#gpu = gpu
    this.#lens = lens
    this.#program = program
    this.#vocab_size = lens.shape.vocab_size
  }

  /** The adapter that it is on, in words. */
  get adapter(): string {
    return this.#gpu.facts.description
  }

  /** Throws GpuError, too_large where a tensor does not fit the adapter, and what `open` throws. */
  static async open(hf: HfModel, open: OpenDevice): Promise<OpenedModel> {
    const plan = new MemoryPlan()
    create(plan, hf)
    const gpu = await open({ largest: plan.largest, bytes: plan.total() })
    try {
      const { model, lens } = create(gpu, hf)
      uploadModel(gpu, model, hf.weights)
      const program = await gpu.record('opened_model', ['text'], (r) => recordLens(r, model, lens))
      return new OpenedModel(gpu, lens, program)
    } catch (error) {
      gpu.destroy()
      throw error
    }
  }

  /** Throws RangeError for a text without tokens, with too many, or with one that the model has not; GpuError for a lost device. */
  async look(ids: readonly number[], tokens: readonly string[]): Promise<Lens> {
    if (ids.length === 0 || ids.length > MOST_TOKENS)
      throw new RangeError(`Expected a text of 1 to ${MOST_TOKENS} tokens, found ${ids.length}.`)
    const strange = ids.find((id) => id >= this.#vocab_size)
    if (strange !== undefined)
      throw new RangeError(`Expected token ids below ${this.#vocab_size}, found ${strange}.`)
    uploadLens(this.#gpu, this.#lens, [ids])
    this.#gpu.replay(this.#program, { text: 0 })
    const outputs = await this.#gpu.read(...this.#lens.outputs)
    const sample = { prompt: ids.map((id) => tokens[id] ?? `<${id}>`).join(''), response: '' }
    const text = { sample: { ...sample, is_ended: false }, ids, prompt_length: ids.length }
    const [lens] = readLens(this.#lens, outputs, [{ ...text, is_held_out: false }], tokens)
    return lens
  }

  close(): void {
    this.#gpu.destroy()
  }
}

/** Everything on the device, or in a plan. */
function create(alloc: Allocator, { layout }: HfModel) {
  const { shape } = layout
  const model = createModel(alloc, layout)
  return { model, lens: createLens(alloc, shape, { texts: 1, width: MOST_TOKENS }) }
}

/** Refuses a model that takes more memory than there may be. */
export function requireRoom(bytes: number, allowed: number): void {
  if (bytes <= allowed) return
  const gib = (count: number) => `${(count / 2 ** 30).toFixed(2)} GiB`
  throw new GpuError(
    'too_large',
    `The model takes ${gib(bytes)} of GPU memory here, where it may take ${gib(allowed)}.`,
  )
}
