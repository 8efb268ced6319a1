// Attention without barriers, one invocation per query or key, written out for one head size.
import { unrolled, withPart } from '../wgsl/compose.ts'
import narrow_query from './attention_narrow_query.wgsl?raw'
import params_source from './attention_params.wgsl?raw'

/** A line with $ is written once per vector of four channels. */
export const narrowSource = (wgsl: string, head_dim: number): string =>
  unrolled(wgsl, head_dim / 4, 'VECTORS')

/** The same for a kernel whose invocations own a query each. */
export const narrowQuerySource = (wgsl: string, head_dim: number): string =>
  narrowSource(params_source + withPart(wgsl, 'narrow_query', narrow_query), head_dim)

/** What decides between narrow and tiled kernels. */
export interface AttentionSize {
  readonly width: number
  readonly head_dim: number
  /** False: tiled at every size. */
  readonly narrow_kernels?: boolean | undefined
}

/** Measured on software adapters, where barriers are expensive: up to here narrow is up to 20 times (heads of 8) as fast. */
const MAX_NARROW_WIDTH = 512
/** Larger heads do not fit in a GPU's registers: AMD's compiler spilled for heads of 64. */
const MAX_NARROW_HEAD_DIM = 32

/** Whether attention of this size takes the narrow kernels. */
export const isNarrow = ({ width, head_dim, narrow_kernels = true }: AttentionSize): boolean =>
  narrow_kernels &&
  width <= MAX_NARROW_WIDTH &&
  head_dim <= MAX_NARROW_HEAD_DIM &&
  head_dim % 4 === 0
