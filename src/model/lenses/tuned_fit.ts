// Fits a tuned lens: for every layer the affine map whose policy is nearest to the final one, by
// forward KL (Belrose et al. 2023, arXiv 2303.08112). All layers at once; they share nothing.
import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import {
  adamw_update,
  CONTROL,
  grad_norm_finish,
  grad_norm_partial,
  OPTIMIZER_BLOCKS,
} from '../../kernels/optimizer/optimizer.ts'
import type { ModelShape } from '../layout/config.ts'
import { CHUNK } from '../layout/flat_params.ts'
import { translatorSize } from '../layout/translators.ts'
import { frozenGradients } from '../params/param_tensors.ts'
import type { Model } from '../transformer/model.ts'
import { backwardTaught, readStudent } from '../transformer/teacher.ts'
import { createLensTensors } from './lens.ts'
import { type LensRows, tokensIn, uploadLensRows } from './lens_rows.ts'
import { type ComparedTensors, comparedPass, recordFinal } from './read_layers.ts'

/** AdamW, whose decay pulls every translator to the identity. */
export interface TunedOptimizer {
  readonly lr: number
  readonly betas: readonly [number, number]
  readonly eps: number
  readonly weight_decay: number
}

const STEP_LIVE = ['lr'] as const

/** Everything that a fit of so many layers keeps besides the passes, on a device or in a plan. */
export function createTunedTensors(
  alloc: Allocator,
  { hidden_size }: Pick<ModelShape, 'hidden_size'>,
  layers: number,
) {
  const size = layers * translatorSize(hidden_size)
  const translators = (label: string) => createLensTensors(alloc, { hidden_size }, layers, label)
  const f32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`tuned.${label}`, 'f32', dims, { kind: 'optimizer' })
  return {
    lens: translators('lens.tuned'),
    gradients: translators('lens.gradients'),
    m: f32('m', size),
    v: f32('v', size),
    partials: f32('partials', OPTIMIZER_BLOCKS),
    control: f32('control', CONTROL.length),
    corrections: f32('corrections', 1, 2),
    chunk_segment: alloc.tensor('tuned.chunk_segment', 'u32', [size / CHUNK], {
      kind: 'optimizer',
    }),
  }
}

export type TunedTensors = ReturnType<typeof createTunedTensors>

export class TunedFit {
  readonly #gpu: Gpu
  readonly #compared: ComparedTensors
  readonly #tensors: TunedTensors
  readonly #states: Program<never>
  readonly #step: Program<(typeof STEP_LIVE)[number]>

  private constructor(
    gpu: Gpu,
    compared: ComparedTensors,
    tensors: TunedTensors,
    states: Program<never>,
    step: Program<(typeof STEP_LIVE)[number]>,
  ) {
    this.#gpu = gpu
    this.#compared = compared
    this.#tensors = tensors
    this.#states = states
    this.#step = step
  }

  /** Begins at the identity. `layers`: those that are fitted, by default all below the last. */
  static async create(
    gpu: Gpu,
    plain: Model,
    compared: ComparedTensors,
    optimizer: TunedOptimizer,
    {
      layers = Array.from({ length: plain.shape.num_hidden_layers }, (_, l) => l),
      tensors = createTunedTensors(gpu, plain.shape, layers.length),
    }: { readonly layers?: readonly number[]; readonly tensors?: TunedTensors } = {},
  ): Promise<TunedFit> {
    const { lens, gradients } = tensors
    const tuned = Array.from({ length: plain.shape.num_hidden_layers }, (_, l) => {
      const at = layers.indexOf(l)
      return lens.layers[at < 0 ? 0 : at]
    })
    const model = { ...plain, lenses: { tuned } }
    const { ws } = compared
    const states = await gpu.record('tuned_states', [], (r) => recordFinal(r, model, compared))
    const step = await gpu.record('tuned_step', STEP_LIVE, (r) => {
      r.clear(gradients.flat)
      layers.forEach((layer, i) => {
        const pass = comparedPass<'lr'>(model, compared, layer, 'tuned')
        const translator = gradients.layers[i]
        const grads = { ...frozenGradients(model), buffers: model.weights.buffers, translator }
        readStudent(r, model, ws, pass)
        backwardTaught(r, model, grads, ws, pass)
      })
      const { partials, control, corrections, chunk_segment, m, v } = tensors
      const [count] = gradients.flat.shape
      const of = { gradients: gradients.flat, control, corrections }
      r.run(
        grad_norm_partial,
        { count, first: 0, accumulate: 0 },
        { gradients: gradients.flat, partials },
      )
      const [beta1, beta2] = optimizer.betas
      const betas = { one_minus_beta1: 1 - beta1, one_minus_beta2: 1 - beta2 }
      // Without a limit: a layer's step does not depend on the others.
      const finish = { max_norm: 3e38, segments: 1, active_segments: 1, ...betas }
      r.run(grad_norm_finish, finish, { partials, control, corrections })
      const { eps, weight_decay } = optimizer
      const update = { count, lr: ({ lr }: { lr: number }) => lr, beta1, beta2, ...betas, eps }
      const decay = { weight_decay, vector_weight_decay: weight_decay }
      r.run(
        adamw_update,
        { ...update, ...decay },
        { ...of, chunk_segment, weights: lens.flat, m, v },
      )
    })
    return new TunedFit(gpu, compared, tensors, states, step)
  }

  /** Back to the identity, where a new fit begins, too. */
  begin(): void {
    const { lens, m, v, corrections, control, chunk_segment } = this.#tensors
    for (const tensor of [lens.flat, m, v, corrections, control, chunk_segment])
      this.#gpu.clear(tensor)
  }

  get lens(): TunedTensors['lens'] {
    return this.#tensors.lens
  }

  /** Takes the texts that the next steps are over. */
  load(rows: LensRows): void {
    const { ws, teacher } = this.#compared
    uploadLensRows(this.#gpu, ws, rows)
    const each = 1 / tokensIn(rows)
    this.#gpu.write(
      teacher.token_weights,
      Float32Array.from(rows.attention_mask, (isReal) => isReal * each),
    )
    this.#gpu.replay(this.#states)
  }

  /** Steps that take the batches in turn, at a rate that falls from `lr` to zero. */
  async run(
    batches: readonly LensRows[],
    { steps, lr }: { readonly steps: number; readonly lr: number },
    onDone: () => void = () => {},
  ): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (step === 0 || batches.length > 1) this.load(batches[step % batches.length])
      this.step(lr * (1 - step / steps))
      // A reading now and then keeps the queue short, so that a page can draw.
      if (step % 16 === 15) await this.#gpu.read(this.#tensors.control)
      onDone()
    }
  }

  /** One step on the mean KL over the loaded tokens. */
  step(lr: number): void {
    this.#gpu.replay(this.#step, { lr })
  }

  /** Of the last step. */
  get gradients(): Tensor<'f32'> {
    return this.#tensors.gradients.flat
  }
}
