// Creates the tensors that an optimizer keeps on the GPU: gradients, moments and step counts of the
// parameters that it trains.
import {
  type Allocator,
  type MemoryKind,
  sizeOf,
  type Tensor,
} from '../../kernels/device/base/tensor.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import { CONTROL, OPTIMIZER_BLOCKS } from '../../kernels/optimizer/optimizer.ts'
import { CHUNK, type FlatLayout } from '../../model/layout/flat_params.ts'
import { createParamBuffers, type ParamBuffers, within } from '../../model/params/param_buffers.ts'
import {
  besideMatrices,
  createMuonRoom,
  type MuonTensors,
  muonMatrices,
  type TrainedTensors,
} from './muon/muon.ts'

/** What is bound at once, with what AdamW needs to know of it. */
export interface TrainedStretch extends TrainedTensors {
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
  /** Where a phase trains by Muon, with what that leaves to AdamW. */
  readonly muon: (MuonTensors & { readonly rest: readonly TrainedStretch[] }) | undefined
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

/** Most optimizer steps in one training step, and whether any is one of Muon, which runs its
 * products on the kernels of `matmul`. */
export interface OptimizerSize {
  readonly updates: number
  readonly hasMuon?: boolean
  readonly matmul?: MatmulChoice | undefined
}

/** Allocates the optimizer of `weights`; `gradients` say what is trained. */
export function createOptimizerTensors<G extends { readonly buffers: ParamBuffers }>(
  alloc: Allocator,
  layout: FlatLayout,
  weights: ParamBuffers,
  gradients: G,
  { updates, hasMuon = false, matmul }: OptimizerSize,
): OptimizerTensors & { readonly gradients: G } {
  const optimizer = (label: string, ...dims: number[]) =>
    alloc.tensor(label, 'f32', dims, { kind: 'optimizer' })
  const trains = trainedBy(layout, gradients.buffers)
  const m = createTrained(alloc, layout, 'adam_m', 'optimizer', trains)
  const v = createTrained(alloc, layout, 'adam_v', 'optimizer', trains)
  const stretches = trainedStretches(alloc, weights, gradients.buffers, m, v)
  return {
    layout,
    weights,
    gradients,
    m,
    v,
    stretches,
    muon: hasMuon ? createMuonTensors(alloc, layout, stretches, matmul) : undefined,
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
      return {
        start,
        count,
        weights: part(alloc, stretch.tensor, start - stretch.start, count),
        gradients: part(alloc, tensor, start - first, count),
        m: part(alloc, m.stretches[i].tensor, start - first, count),
        v: part(alloc, v.stretches[i].tensor, start - first, count),
        chunk_segment: createChunks(alloc, count),
      }
    }),
  )
}

const part = (alloc: Allocator, whole: Tensor, at: number, count: number): Tensor =>
  count === sizeOf(whole.shape) ? whole : alloc.view(whole, whole.label, at, [count])

const createChunks = (alloc: Allocator, count: number): Tensor =>
  alloc.tensor('chunk_segment', 'u32', [count / CHUNK], { kind: 'optimizer' })

/** Allocates what Muon needs beside gradients and moments. */
function createMuonTensors(
  alloc: Allocator,
  layout: FlatLayout,
  stretches: readonly TrainedStretch[],
  matmul: MatmulChoice | undefined,
): OptimizerTensors['muon'] {
  const matrices = muonMatrices(layout)
  const rest = stretches.flatMap((stretch) =>
    besideMatrices(layout).flatMap((between): TrainedStretch[] => {
      const start = Math.max(stretch.start, between.start)
      const count = Math.min(stretch.start + stretch.count, between.end) - start
      if (count <= 0) return []
      const cut = (whole: Tensor) => part(alloc, whole, start - stretch.start, count)
      const { weights, gradients, m, v } = stretch
      const own = { weights: cut(weights), gradients: cut(gradients), m: cut(m), v: cut(v) }
      return [{ start, count, ...own, chunk_segment: createChunks(alloc, count) }]
    }),
  )
  return { matmul, matrices, rest, ...createMuonRoom(alloc, matrices) }
}
