// Decides which attention takes kernels without barriers.

/** What decides between narrow and tiled kernels. */
export interface AttentionSize {
  readonly width: number
  readonly head_dim: number
  /** False: tiled at every size. */
  readonly narrowKernels?: boolean | undefined
}

/** Measured on software adapters, where barriers are expensive: up to here narrow is up to 20 times
 * (heads of 8) as fast. */
const MAX_NARROW_WIDTH = 512
/** Larger heads do not fit in a GPU's registers: AMD's compiler spilled for heads of 64. */
const MAX_NARROW_HEAD_DIM = 32

/** Whether attention of this size takes the narrow kernels. */
export const isNarrow = ({ width, head_dim, narrowKernels = true }: AttentionSize): boolean =>
  narrowKernels &&
  width <= MAX_NARROW_WIDTH &&
  head_dim <= MAX_NARROW_HEAD_DIM &&
  head_dim % 4 === 0
