// Holds a model and the optimizer that trains it.

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ParamLayout } from '../../model/layout/params.ts'
import { adapterTensors } from '../../model/params/adapter_tensors.ts'
import { readParams, writeParams } from '../../model/params/param_copies.ts'
import {
  frozenGradients,
  type ParamGradients,
  paramGradients,
} from '../../model/params/param_tensors.ts'
import { createModel, type Model, uploadModel } from '../../model/transformer/model.ts'
import { Optimizer } from './optimizer.ts'
import {
  createOptimizerTensors,
  createTrained,
  type OptimizerSize,
  type OptimizerTensors,
} from './optimizer_tensors.ts'

/** Which kernels a model runs, where they are not the default ones. */
export type KernelChoice = Pick<Model, 'matmul' | 'fusion'>

export interface TrainableTensors extends OptimizerTensors {
  readonly model: Model
  readonly gradients: ParamGradients
}

/** Allocates a model with its gradients and moments, or those of its adapter where it has one;
 * `kernels` = which ones it runs, `trains` = which segments of what is trained ever learn (default
 * all). */
export function createTrainableTensors(
  alloc: Allocator,
  layout: ParamLayout,
  updated: Omit<OptimizerSize, 'matmul'>,
  kernels: KernelChoice = {},
  trains?: readonly boolean[],
): TrainableTensors {
  const { lora, steering_vectors } = layout.shape
  const size = { ...updated, matmul: kernels.matmul }
  const model = createModel(
    alloc,
    layout,
    lora || steering_vectors ? 'none' : (trains ?? 'all'),
    kernels,
  )
  if (model.adapter) {
    const { layout: own, buffers: factors } = model.adapter
    const buffers = createTrained(alloc, own, 'gradients', 'gradients', trains)
    const adapter = adapterTensors(alloc, own, buffers)
    const gradients: ParamGradients = { ...frozenGradients(layout), buffers, adapter }
    return { ...createOptimizerTensors(alloc, own, factors, gradients, size), model }
  }
  const buffers = createTrained(alloc, layout, 'gradients', 'gradients', trains)
  const gradients = paramGradients(alloc, layout, buffers)
  const optimizer = createOptimizerTensors(alloc, layout, model.weights.buffers, gradients, size)
  return { ...optimizer, model }
}

/** A model that learns. Calls encode GPU work in order; nothing is read back but by
 * exportWeights. */
export class Trainable extends Optimizer {
  readonly layout: ParamLayout
  readonly #device: Gpu
  readonly #model: Model

  private constructor(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    clear: Program<never>,
  ) {
    super(gpu, tensors, clear)
    this.#device = gpu
    this.#model = tensors.model
    this.layout = layout
  }

  /** Uploads what depends on the layout alone, the weights and, where the model has an adapter, its
   * factors. */
  static async load(
    gpu: Gpu,
    layout: ParamLayout,
    tensors: TrainableTensors,
    weights: Float32Array,
    factors?: Float32Array,
  ): Promise<Trainable> {
    uploadModel(gpu, tensors.model, weights)
    if (tensors.model.adapter) {
      if (!factors) throw new Error('trainable: expected the factors of its adapter')
      writeParams(gpu, tensors.model.adapter.buffers, factors)
    }
    return new Trainable(gpu, layout, tensors, await Optimizer.begin(gpu, tensors))
  }

  /** The model's weights in the order of the layout; of one with an adapter those of its base. */
  async exportWeights(): Promise<Float32Array> {
    const [weights] = await readParams(this.#device, this.#model.weights.buffers)
    return weights
  }
}
