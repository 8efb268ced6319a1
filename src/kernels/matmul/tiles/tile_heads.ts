// Writes the WGSL before the body of a product: what its buffers hold, and how a result is stored.
import sigmoid from '../../swiglu/swiglu_sigmoid.wgsl?raw'
import staged_nt_add from './staged_nt_add.wgsl?raw'
import staged_nt_swiglu from './staged_nt_swiglu.wgsl?raw'
import type { FusedOp, MatmulOp, Tile } from './tile.ts'
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

/** How a result is stored. */
export interface Head {
  readonly wgsl: string
  readonly takes: Taken
}

interface OpHead extends Head {
  /** WGSL types of the elements of the product's buffers that are not f32. */
  readonly elements: Readonly<Record<string, string>>
}

type Heads = Readonly<Record<MatmulOp | FusedOp, OpHead>>

const factors = { a: 'vec4f', b: 'vec4f' }
const vectors = { ...factors, out: 'vec4f' }
const gates = { ...factors, gate_up: 'vec4f', d_gate_up: 'vec4f' }

/** Of products that read b along k, results are stored one by one; of the others in vectors of four
 * columns. */
export const HEADS: Heads = {
  nn: { wgsl: nn, takes: 'sum', elements: vectors },
  tn: { wgsl: nn, takes: 'sum', elements: vectors },
  nt: { wgsl: nt, takes: 'sum', elements: factors },
  nt_add: { wgsl: nt_add, takes: 'sum', elements: factors },
  nt_swiglu: { wgsl: nt_swiglu + sigmoid, takes: 'pair', elements: factors },
  nn_swiglu: { wgsl: nn_swiglu + sigmoid, takes: 'gates', elements: gates },
  tn_bias: { wgsl: tn_bias, takes: 'sum', elements: { ...vectors, bias: 'vec4f' } },
}

/** Of staged products: every result is stored in vectors of four. */
const STAGED_HEADS: Heads = {
  ...HEADS,
  nt: HEADS.nn,
  nt_add: { wgsl: staged_nt_add, takes: 'sum', elements: { ...vectors, addend: 'vec4f' } },
  nt_swiglu: {
    wgsl: staged_nt_swiglu + sigmoid,
    takes: 'value',
    elements: { ...factors, gate_up: 'vec2f', out: 'vec2f' },
  },
}

/** The head of a product in these tiles. */
export const headOf = (op: MatmulOp | FusedOp, { stage }: Pick<Tile, 'stage'>): OpHead =>
  (stage ? STAGED_HEADS : HEADS)[op]
