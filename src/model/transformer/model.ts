// Declares what every pass of a model shares: the model itself, how many tokens pass, and the
// parameters of its heads.

import type { Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { InterventionTensors } from '../interventions/intervention_tensors.ts'
import { ownAdapter } from '../layout/adapter_layout.ts'
import { inverseFrequencies, type ModelShape } from '../layout/config.ts'
import type { ParamLayout } from '../layout/params.ts'
import { type AdapterTensors, createAdapter } from '../params/adapter_tensors.ts'
import type { Lenses } from '../params/lens_tensors.ts'
import { createParamBuffers } from '../params/param_buffers.ts'
import { writeParams } from '../params/param_copies.ts'
import { type ParamTensors, paramTensors, storedAs, type Trains } from '../params/param_tensors.ts'
import type { Workspace } from './workspace.ts'

/** Which steps run inside the matrix product before or after them, where its kernel can
 * (matmul_fused.ts, decode_normed.ts). */
export interface Fusion {
  /** silu(gate) · up and its gradient. */
  readonly swiglu: boolean
  /** Of q, k and v, beside the weight's. */
  readonly biasGradient: boolean
  /** The norms of a decoded token, and its embedding. Absent: on hardware, where dispatches cost
   * more than what they compute. */
  readonly decodeNorms?: boolean
  /** All of a decoded token, as one dispatch where a workgroup holds its states. Absent: on
   * hardware. Software adapters compute a batch of preset A's size in half the speed so. */
  readonly decodeToken?: boolean
}

/** What every pass needs besides activations. */
export interface Model {
  readonly shape: ModelShape
  readonly weights: ParamTensors
  /** A LoRA adapter or steering vectors that are on; absent = the base alone. */
  readonly adapter?: AdapterTensors | undefined
  /** Changes that its forward passes make on their way (model/interventions); absent = none, and
   * nothing is recorded for them. */
  readonly interventions?: InterventionTensors | undefined
  /** Translators that policies of inner layers can be read through; absent = none. */
  readonly lenses?: Lenses | undefined
  /** [D/2], from inverseFrequencies. */
  readonly inv_freq: Tensor
  /** Kernels of the linear layers, by shape; absent = the default ones. */
  readonly matmul?: MatmulChoice | undefined
  /** Absent = all of it. Off and on differ at most in rounding: of the bias gradient and of what a
   * rollout computes. */
  readonly fusion?: Fusion | undefined
}

/** The model with its adapter off: its base. */
export const withoutAdapter = (model: Model): Model => ({ ...model, adapter: undefined })

/** Room for a model and for the adapter that its shape has; `trains` = which segments are trained,
 * by default none, `kernels` = which ones it runs. */
export function createModel(
  alloc: Allocator,
  layout: ParamLayout,
  trains: Trains = 'none',
  kernels: Pick<Model, 'matmul' | 'fusion'> = {},
): Model {
  const { shape } = layout
  const stored = storedAs(shape, trains)
  const buffers = createParamBuffers(alloc, layout, 'weights', 'weights', stored)
  const weights = paramTensors(alloc, layout, buffers)
  const inv_freq = alloc.tensor('inv_freq', 'f32', [shape.head_dim / 2], { kind: 'weights' })
  const own = ownAdapter(shape)
  const adapter = own && createAdapter(alloc, own)
  return { shape, weights, inv_freq, ...(adapter && { adapter }), ...kernels }
}

/** Uploads rotary frequencies and weights, in the order of their layout; behind them may lie those
 * of its adapter. */
export function uploadModel(gpu: Pick<Gpu, 'write'>, model: Model, values: Float32Array): void {
  const { weights, adapter } = model
  const { size } = weights.buffers
  writeParams(gpu, weights.buffers, values.subarray(0, size))
  if (adapter && values.length > size) writeParams(gpu, adapter.buffers, values.subarray(size))
  uploadFrequencies(gpu, model)
}

/** Rotary frequencies alone, where weights come piece by piece. */
export function uploadFrequencies(
  gpu: Pick<Gpu, 'write'>,
  { shape, inv_freq }: Pick<Model, 'shape' | 'inv_freq'>,
): void {
  gpu.write(inv_freq, Float32Array.from(inverseFrequencies(shape)))
}

/** A pass through one block. */
export interface BlockPass<L extends string> {
  readonly ws: Workspace
  /** The block, counted from 0. */
  readonly l: number
  readonly tokens: Tokens<L>
}

/** Tokens of a pass: how many, perhaps only known at each replay, and how many at most, which
 * decides on kernels. */
export interface Tokens<L extends string> {
  readonly count: Value<L>
  readonly most: number
}

/** A fixed number of tokens. */
export const exactly = (count: number): Tokens<never> => ({ count, most: count })

/** All that a workspace has room for, or `count` of it. */
export const tokensOf = <L extends string>(
  { rows, kernelRows = rows, width }: Workspace,
  count: Value<L> = rows * width,
): Tokens<L> => ({ count, most: kernelRows * width })

/** The parameters that the rotary kernel and the attention kernels share. */
export const headParams = (shape: ModelShape) => ({
  num_attention_heads: shape.num_attention_heads,
  num_key_value_heads: shape.num_key_value_heads,
  head_dim: shape.head_dim,
})

/** Per-head norm (Qwen3) and rotation: params of qk_norm_rope_*. */
export const ropeParams = <T>(shape: ModelShape, tokens: T) => ({
  tokens,
  ...headParams(shape),
  has_qk_norm: shape.has_qk_norm ? 1 : 0,
  eps: shape.rms_norm_eps,
})
