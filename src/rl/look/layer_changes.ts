// Measures how much each layer's attention and feed-forward change the entropy during a run (BuPO,
// arXiv 2512.19673, eqs. 11 to 13).

import type { Program } from '../../kernels/device/base/dispatch_table.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { masked_sum } from '../../kernels/metrics/metrics.ts'
import { recordInternals } from '../../model/internals/internals.ts'
import {
  createInternals,
  type InternalsTensors,
  uploadInternals,
} from '../../model/internals/internals_tensors.ts'
import type { Model } from '../../model/transformer/model.ts'
import { type RolloutBatch, tokenCount } from '../experience/batch.ts'
import type { ActorTensors } from '../learners/actor_tensors.ts'

const QUANTITIES = ['dH_attn', 'dH_ffn'] as const

/** The part of the actor that a measurement borrows: its probe's workspace and mask. */
type Borrowed = Pick<ActorTensors, 'model' | 'probe' | 'probe_mask'>

export interface LayerChangesTensors {
  readonly internals: InternalsTensors
  /** Of what each module reads and writes: Σ entropy over the probed tokens, [4 · L], nats. */
  readonly sums: Tensor
}

/** Numbers read back per measurement. */
export const layerChangesSize = ({
  num_hidden_layers,
}: Pick<Model['shape'], 'num_hidden_layers'>) => 4 * num_hidden_layers

/** Allocates a measurement on the rows of the actor's probe. */
export function createLayerChangesTensors(
  alloc: Allocator,
  { model: { shape }, probe }: Borrowed,
): LayerChangesTensors {
  const positions = 'response'
  return {
    internals: createInternals(alloc, shape, probe, { quantities: QUANTITIES, positions }),
    sums: alloc.tensor('layer_changes', 'f32', [layerChangesSize(shape)]),
  }
}

/** Measures the entropy changes of every layer's modules. Calls encode GPU work; nothing is read
 * back here. */
export class LayerChanges {
  readonly tensors: LayerChangesTensors
  #gpu: Gpu
  #borrowed: Borrowed
  #program: Program<never>

  private constructor(
    gpu: Gpu,
    tensors: LayerChangesTensors,
    borrowed: Borrowed,
    program: Program<never>,
  ) {
    this.#gpu = gpu
    this.tensors = tensors
    this.#borrowed = borrowed
    this.#program = program
  }

  static async create(gpu: Gpu, borrowed: Borrowed): Promise<LayerChanges> {
    const tensors = createLayerChangesTensors(gpu, borrowed)
    const { internals, sums } = tensors
    const [values] = internals.outputs
    const sets = layerChangesSize(borrowed.model.shape)
    const count = values.shape[0] / sets
    const program = await gpu.record('layer_changes', [], (r) => {
      recordInternals(r, borrowed.model, internals)
      r.run(masked_sum, { count, sets }, { values, mask: borrowed.probe_mask, sums })
    })
    return new LayerChanges(gpu, tensors, borrowed, program)
  }

  /** Measures these rows, as many as the probe has, under the present weights: fills sums. Returns
   * their response tokens. */
  measure(rows: RolloutBatch): number {
    uploadInternals(this.#gpu, this.tensors.internals, rows)
    this.#gpu.write(this.#borrowed.probe_mask, rows.response_mask)
    this.#gpu.replay(this.#program)
    return tokenCount(rows)
  }

  /** `layer/delta_h_attn/<l>` and `layer/delta_h_ffn/<l>`, l = 1…L: entropy of the policy of what
   * the module writes minus that of what it reads, mean over the measured response tokens, nats. */
  metrics(sums: Float32Array, tokens: number): Record<string, number> {
    const layers = this.#borrowed.model.shape.num_hidden_layers
    const order: readonly string[] = [...this.tensors.internals.slots.keys()]
    const at = (name: string, l: number) => sums[order.indexOf(name) * layers + l]
    const metrics: Record<string, number> = {}
    for (const part of ['attn', 'ffn'])
      for (let l = 0; l < layers; l++)
        metrics[`layer/delta_h_${part}/${l + 1}`] =
          (at(`ent_${part}_out`, l) - at(`ent_${part}_in`, l)) / tokens
    return metrics
  }
}
