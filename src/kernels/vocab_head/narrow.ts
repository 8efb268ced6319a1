// Writes vocabulary heads without barriers: which take them, and their text for one hidden size.
import { inHalves, unrolled, withoutComments } from '../wgsl/compose.ts'

/** What decides between tiled and narrow kernels: C and V. */
export interface HeadShape {
  readonly hidden_size: number
  readonly vocab_size: number
  /** False: tiled at every size. */
  readonly narrowKernels?: boolean | undefined
}

const MAX_NARROW_SIZE = 128

/** Whether a head takes narrow kernels. */
export const isNarrow = ({
  hidden_size: C,
  vocab_size: V,
  narrowKernels = true,
}: HeadShape): boolean => narrowKernels && Math.max(C, V) <= MAX_NARROW_SIZE && C % 4 === 0

/** One hidden size's source, with a line with $ once per four channels. In halves as in
 * `inHalves`. */
export const narrowSource = (wgsl: string, hiddenSize: number, halves = 1): string => {
  const quads = hiddenSize / 4 / halves
  const source = inHalves(withoutComments(wgsl), halves)
  return unrolled(source, quads, 'QUADS')
}
