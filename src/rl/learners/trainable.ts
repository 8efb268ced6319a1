// A model and the optimizer that trains it.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Program } from '../../kernels/device/program.ts'
import type { Allocator } from '../../kernels/device/tensor.ts'
import { readParams } from '../../model/params/param_copies.ts'
import { type ParamGradients, type ParamLayout, paramGradients } from '../../model/params/params.ts'
import { createModel, type Model, uploadModel } from '../../model/transformer/model.ts'
import { Optimizer } from './optimizer.ts'
import {
  createOptimizerTensors,
  createTrained,
  type OptimizerTensors,
} from './optimizer_tensors.ts'

/** Which kernels a model runs, where they are not the default ones. */
export type KernelChoice = Pick<Model, 'matmul' | 'fusion'>

export interface TrainableTensors extends OptimizerTensors {
  readonly model: Model
  readonly gradients: ParamGradients
}

/**
 * Allocates a model with its gradients and moments; `updates` = most optimizer steps in one training step, `kernels` =
 * which ones it runs, `trains` = which segments are ever trained (default all).
 */
export function createTrainableTensors(
  alloc: Allocator,
  layout: ParamLayout,
  updates: number,
  kernels: KernelChoice = {},
  trains?: readonly boolean[],
): TrainableTensors {
  const model = createModel(alloc, layout, trains ?? 'all', kernels)
  const buffers = createTrained(alloc, layout, 'gradients', 'gradients', trains)
  const gradients = paramGradients(alloc, layout, buffers)
  const optimizer = createOptimizerTensors(alloc, layout, model.weights.buffers, gradients, updates)
  return { ...optimizer, model }
}

/** A model that learns. Calls encode GPU work in order; nothing is read back but by exportWeights. */
export class Trainable extends Optimizer {
  readonly layout: ParamLayout
  readonly #device: Gpu

  private constructor(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    clear: Program<never>,
  ) {
    super(gpu, tensors, clear)
    this.#device = gpu
    this.layout = layout
  }

  /** Uploads what depends on the layout alone, and the weights. */
  static async load(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    weights: Float32Array,
  ): Promise<Trainable> {
    uploadModel(gpu, tensors.model, weights)
    return new Trainable(gpu, layout, tensors, await Optimizer.begin(gpu, tensors))
  }

  /** The weights in the order of the layout. */
  async exportWeights(): Promise<Float32Array> {
    const [weights] = await readParams(this.#device, this.tensors.weights)
    return weights
  }
}
