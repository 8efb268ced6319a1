// Creates the tensors that an optimizer keeps on the GPU: gradients, moments and step counts of the
// parameters that it trains.
import {
  type Allocator,
  type MemoryKind,
  sizeOf,
  type Tensor,
} from '../../kernels/device/tensor.ts'
import { CONTROL, OPTIMIZER_BLOCKS } from '../../kernels/optimizer/optimizer.ts'
import { CHUNK, type FlatLayout } from '../../model/layout/flat_params.ts'
import { createParamBuffers, type ParamBuffers, within } from '../../model/params/param_buffers.ts'

/** Trained elements, from `start` of the layout on, that are bound at once: [count] each. */
export interface TrainedStretch {
  readonly start: number
  readonly count: number
  readonly weights: Tensor
  readonly gradients: Tensor
  readonly m: Tensor
  readonly v: Tensor
  /** u32 [count / CHUNK] (chunkSegments). */
  readonly chunk_segment: Tensor
}

export interface OptimizerTensors {
  /** Of the parameters; some of its segments may be frozen. */
  readonly layout: FlatLayout
  /** Every parameter. */
  readonly weights: ParamBuffers
  /** Of the trained segments, as are the moments. */
  readonly gradients: { readonly buffers: ParamBuffers }
  readonly m: ParamBuffers
  readonly v: ParamBuffers
  /** What is trained, in order; one in a small model. */
  readonly stretches: readonly TrainedStretch[]
  /** 1 - beta^t of each segment, [segments, 2]. */
  readonly corrections: Tensor<'f32'>
  /** Factor of the learning rate of each segment, where a phase has any; [segments]. */
  readonly lr_factors: Tensor
  readonly partials: Tensor
  /** The last optimizer step, [CONTROL.length]. */
  readonly control: Tensor<'f32'>
  /** control after each optimizer step of this training step, [updates, CONTROL.length]. */
  readonly history: Tensor
  /** Where the gradients of an optimizer step that was left out are not finite (lastNonfinite), u32
   * [updates]. */
  readonly nonfinite: Tensor<'u32'>
}

/** Allocates one value for each parameter that is trained; `trains` = which segments are, by
 * default all. */
export const createTrained = (
  alloc: Allocator,
  layout: FlatLayout,
  label: string,
  kind: MemoryKind,
  trains?: readonly boolean[],
): ParamBuffers =>
  createParamBuffers(alloc, layout, label, kind, (segment) =>
    trains?.[segment] === false ? undefined : 'f32',
  )

/** Allocates the optimizer of `weights`; `gradients` say what is trained, `updates` = most
 * optimizer steps in one training step. */
export function createOptimizerTensors<G extends { readonly buffers: ParamBuffers }>(
  alloc: Allocator,
  layout: FlatLayout,
  weights: ParamBuffers,
  gradients: G,
  updates: number,
): OptimizerTensors & { readonly gradients: G } {
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const trains = trainedBy(layout, gradients.buffers)
  const m = createTrained(alloc, layout, 'adam_m', 'optimizer', trains)
  const v = createTrained(alloc, layout, 'adam_v', 'optimizer', trains)
  return {
    layout,
    weights,
    gradients,
    m,
    v,
    stretches: trainedStretches(alloc, weights, gradients.buffers, m, v),
    corrections: optimizer('corrections', layout.segment_ends.length, 2),
    lr_factors: optimizer('lr_factors', layout.segment_ends.length),
    partials: optimizer('norm_partials', OPTIMIZER_BLOCKS),
    control: optimizer('control', CONTROL.length),
    history: optimizer('history', updates, CONTROL.length),
    nonfinite: alloc.tensor('nonfinite', 'u32', [updates], { kind: 'optimizer' }),
  }
}

/** Which segments these buffers store. */
const trainedBy = (layout: FlatLayout, buffers: ParamBuffers): boolean[] =>
  layout.segment_ends.map((end) => within(buffers, end - CHUNK, end).length > 0)

/** Where weights and gradients each lie in one buffer. Moments lie as gradients do. */
function trainedStretches(
  alloc: Allocator,
  weights: ParamBuffers,
  gradients: ParamBuffers,
  m: ParamBuffers,
  v: ParamBuffers,
): TrainedStretch[] {
  return gradients.stretches.flatMap(({ start: first, tensor }, i) =>
    within(weights, first, first + sizeOf(tensor.shape)).map(({ stretch, from: start, to }) => {
      const count = to - start
      const part = (whole: Tensor, at: number) =>
        count === sizeOf(whole.shape) ? whole : alloc.view(whole, whole.label, at, [count])
      return {
        start,
        count,
        weights: part(stretch.tensor, start - stretch.start),
        gradients: part(tensor, start - first),
        m: part(m.stretches[i].tensor, start - first),
        v: part(v.stretches[i].tensor, start - first),
        chunk_segment: alloc.tensor('chunk_segment', 'u32', [count / CHUNK], { kind: 'optimizer' }),
      }
    }),
  )
}
