// The WGSL before the body of a product: bindings, and how a result is stored.
import sigmoid from '../../swiglu/swiglu_sigmoid.wgsl?raw'
import type { FusedOp, MatmulOp } from './tile.ts'
import nn from './tiles_nn.wgsl?raw'
import nn_swiglu from './tiles_nn_swiglu.wgsl?raw'
import nt from './tiles_nt.wgsl?raw'
import nt_add from './tiles_nt_add.wgsl?raw'
import nt_swiglu from './tiles_nt_swiglu.wgsl?raw'
import tn_bias from './tiles_tn_bias.wgsl?raw'

export const HEADS: Readonly<Record<MatmulOp | FusedOp, string>> = {
  nn,
  tn: nn,
  nt,
  nt_add,
  nt_swiglu: nt_swiglu + sigmoid,
  nn_swiglu: nn_swiglu + sigmoid,
  tn_bias,
}
