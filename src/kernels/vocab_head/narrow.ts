// Vocabulary heads without barriers: which take them, and their text for one hidden size.
import { unrolled, withoutComments } from '../wgsl/compose.ts'

/** What decides between tiled and narrow kernels: C and V. */
export interface HeadShape {
  readonly hidden_size: number
  readonly vocab_size: number
  /** False: tiled at every size. */
  readonly narrow_kernels?: boolean | undefined
}

const MAX_NARROW_SIZE = 128

/** Whether a head takes narrow kernels. */
export const isNarrow = ({
  hidden_size: C,
  vocab_size: V,
  narrow_kernels = true,
}: HeadShape): boolean => narrow_kernels && Math.max(C, V) <= MAX_NARROW_SIZE && C % 4 === 0

/** The narrow source for one hidden size: a line with $ is written once per vector of four channels. */
export const narrowSource = (wgsl: string, hidden_size: number): string => {
  const quads = hidden_size / 4
  return unrolled(withoutComments(wgsl).replaceAll('QUADS>>', `${quads}>>`), quads, 'QUADS')
}
