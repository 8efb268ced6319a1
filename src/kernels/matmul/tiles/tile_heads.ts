// The WGSL before the body of a product: bindings, and how a result is stored.
import sigmoid from '../../swiglu/swiglu_sigmoid.wgsl?raw'
import staged_nt_add from './staged_nt_add.wgsl?raw'
import staged_nt_swiglu from './staged_nt_swiglu.wgsl?raw'
import type { FusedOp, MatmulOp } from './tile.ts'
import nn from './tiles_nn.wgsl?raw'
import nn_swiglu from './tiles_nn_swiglu.wgsl?raw'
import nt from './tiles_nt.wgsl?raw'
import nt_add from './tiles_nt_add.wgsl?raw'
import nt_swiglu from './tiles_nt_swiglu.wgsl?raw'
import tn_bias from './tiles_tn_bias.wgsl?raw'

/** What `put(row, column or vector, …)` takes to store a result. sum: the result, to which `before`
 * has been added where `adds` says so. gates: what `joined` makes of the result and what `before`
 * gives. pair: a result and its twin in the other half. value: the result. */
export type Taken = 'sum' | 'gates' | 'pair' | 'value'

/** Params, bindings and how a result is stored. */
export interface Head {
  readonly wgsl: string
  readonly takes: Taken
}

type Heads = Readonly<Record<MatmulOp | FusedOp, Head>>

/** Of products that read b along k, results are stored one by one; of the others in vectors of four
 * columns. */
export const HEADS: Heads = {
  nn: { wgsl: nn, takes: 'sum' },
  tn: { wgsl: nn, takes: 'sum' },
  nt: { wgsl: nt, takes: 'sum' },
  nt_add: { wgsl: nt_add, takes: 'sum' },
  nt_swiglu: { wgsl: nt_swiglu + sigmoid, takes: 'pair' },
  nn_swiglu: { wgsl: nn_swiglu + sigmoid, takes: 'gates' },
  tn_bias: { wgsl: tn_bias, takes: 'sum' },
}

/** Of staged products: every result is stored in vectors of four. */
export const STAGED_HEADS: Heads = {
  ...HEADS,
  nt: { wgsl: nn, takes: 'sum' },
  nt_add: { wgsl: staged_nt_add, takes: 'sum' },
  nt_swiglu: { wgsl: staged_nt_swiglu + sigmoid, takes: 'value' },
}
