// What stands before the body that matmul_tiles.ts writes out: bindings, and what becomes of a result.
import sigmoid from '../swiglu/swiglu_sigmoid.wgsl?raw'
import type { MatmulOp } from './matmul_tiles.ts'
import nn from './matmul_tiles_nn.wgsl?raw'
import nn_swiglu from './matmul_tiles_nn_swiglu.wgsl?raw'
import nt from './matmul_tiles_nt.wgsl?raw'
import nt_add from './matmul_tiles_nt_add.wgsl?raw'
import nt_swiglu from './matmul_tiles_nt_swiglu.wgsl?raw'
import tn_bias from './matmul_tiles_tn_bias.wgsl?raw'

/** Products that end with the step of training that follows them; matmul_fused.ts says what each is. */
export type FusedOp = 'nt_swiglu' | 'nn_swiglu' | 'tn_bias'

export const HEADS: Readonly<Record<MatmulOp | FusedOp, string>> = {
  nn,
  tn: nn,
  nt,
  nt_add,
  nt_swiglu: nt_swiglu + sigmoid,
  nn_swiglu: nn_swiglu + sigmoid,
  tn_bias,
}
