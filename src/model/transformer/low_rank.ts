// Adds what is trained beside a frozen base, and computes its gradients: a LoRA adapter to a
// product of a block, y += scale · (x Aᵀ) Bᵀ per module, or a vector to the residual stream. B A is
// never formed. M tokens; r the rank; a product holds up to three modules side by side
// (layout/adapter_layout.ts).
import { add_vector } from '../../kernels/add_vector/add_vector.ts'
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import {
  low_rank_add,
  low_rank_input_grad,
  low_rank_weight_grad,
  moduleParams,
} from '../../kernels/low_rank/low_rank.ts'
import { exactChoice, matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import type { ProductFactors, ProductName } from '../layout/adapter_layout.ts'
import type { AdapterTensors } from '../params/adapter_tensors.ts'
import type { BlockPass, Model, Tokens } from './model.ts'
import type { LowRankScratch } from './workspace.ts'

/** Whether block l's product has adapted modules. */
export const isLowRank = ({ adapter }: Pick<Model, 'adapter'>, l: number, product: ProductName) =>
  adapter?.blocks[l][product] !== undefined

/** Adds what the adapter, if one is on, makes of x [M, in] to y [M, width], the output of block l's
 * product. */
export function addLowRank<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  { ws: { low_rank }, l, tokens }: BlockPass<L>,
  product: ProductName,
  { x, y }: { readonly x: Tensor; readonly y: Tensor },
): void {
  if (isLowRank(model, l, product))
    addNarrowed(
      run,
      model,
      { tokens, l, product },
      { low: scratchOf(low_rank).low, y },
      (weight, out) => narrow(run, model, tokens, { A: weight, x, low: out }),
    )
}

/** The same where the caller has its own product for low = x · Aᵀ: `narrowed` runs it. */
export function addNarrowed<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  {
    tokens,
    l,
    product,
  }: { readonly tokens: Tokens<L>; readonly l: number; readonly product: ProductName },
  { low, y }: { readonly low: Tensor | undefined; readonly y: Tensor },
  narrowed: (weight: Tensor, out: Tensor) => void,
): void {
  const factors = model.adapter?.blocks[l][product]
  if (!model.adapter || !factors) return
  if (!low) throw new Error('low_rank: expected room for an adapter')
  narrowed(factors.A, low)
  run(low_rank_add, wideParams(model.adapter, factors, tokens), { low, b: factors.B, y })
}

/** The params of the kernels on the wide side of a product. */
const wideParams = <L extends string>(
  { layout: { rank, scale } }: AdapterTensors,
  { width, columns }: ProductFactors<Tensor>,
  { count }: Tokens<L>,
) => ({ tokens: count, width, rank, scale, ...moduleParams(columns) })

/** Backward of addLowRank: adds to the gradients of A and B, and to d_x [M, in] where it is given.
 * Call it after the base's own gradient of x has been written. */
export function lowRankGrad<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  grads: AdapterTensors | undefined,
  { ws: { low_rank }, l, tokens }: BlockPass<L>,
  {
    product,
    x,
    d_y,
    d_x,
  }: {
    readonly product: ProductName
    readonly x: Tensor
    readonly d_y: Tensor
    readonly d_x?: Tensor | undefined
  },
): void {
  const factors = model.adapter?.blocks[l][product]
  if (!model.adapter || !factors) return
  const { low, d_low } = scratchOf(low_rank)
  const params = wideParams(model.adapter, factors, tokens)
  const [rows, columns] = factors.A.shape
  run(low_rank_input_grad, params, { d_y, b: factors.B, d_low })
  const own = grads?.blocks[l][product]
  if (own) {
    narrow(run, model, tokens, { A: factors.A, x, low })
    run(low_rank_weight_grad, params, { d_y, low, d_b: own.B })
    const kernel = matmulKernel(model.matmul, 'tn', { m: rows, n: columns, k: tokens.most })
    const size = { m: rows, n: columns, k: tokens.count, accumulate: 1 }
    run(kernel, size, { a: d_low, b: x, out: own.A })
  }
  if (!d_x) return
  const kernel = matmulKernel(model.matmul, 'nn', { m: tokens.most, n: columns, k: rows })
  const size = { m: tokens.count, n: columns, k: rows, accumulate: 1 }
  run(kernel, size, { a: d_low, b: factors.A, out: d_x })
}

/** low [M, modules · r] = x · Aᵀ, from A as it is: it learns. */
function narrow<L extends string>(
  run: Recorder<L>['run'],
  { matmul }: Model,
  tokens: Tokens<L>,
  { A, x, low }: { readonly A: Tensor; readonly x: Tensor; readonly low: Tensor },
): void {
  const [n, k] = A.shape
  const kernel = matmulKernel(exactChoice(matmul), 'nt', { m: tokens.most, n, k })
  run(kernel, { m: tokens.count, n, k, accumulate: 0 }, { a: x, b: A, out: low })
}

function scratchOf(low_rank: LowRankScratch | undefined): LowRankScratch {
  if (!low_rank) throw new Error('low_rank: this workspace was made for a model without an adapter')
  return low_rank
}

/** Adds the vector of a layer, if it has one, to its states [rows, C]. */
export function addVector<L extends string>(
  run: Recorder<L>['run'],
  { adapter }: Pick<Model, 'adapter'>,
  layer: number,
  rows: Value<L>,
  state: Tensor,
): void {
  const vector = adapter?.vectors[layer]
  if (vector) run(add_vector, { rows, cols: vector.shape[0] }, { vector, state })
}

/** Adds to the gradient of a layer's vector, where it learns: the sum of dState [M, C], the
 * gradient of the layer's states, over all tokens. */
export function addVectorGrad<L extends string>(
  run: Recorder<L>['run'],
  grads: AdapterTensors | undefined,
  layer: number,
  { count, most }: Tokens<L>,
  dState: Tensor,
): void {
  const out = grads?.vectors[layer]
  if (out) run(reduceRows(most), { rows: count, cols: out.shape[0] }, { x: dState, out })
}

/** The lowest layer whose vector learns; infinite where none does. */
export function lowestVector({ vectors }: Pick<AdapterTensors, 'vectors'>): number {
  const layer = vectors.findIndex((vector) => vector !== undefined)
  return layer < 0 ? Number.POSITIVE_INFINITY : layer
}
