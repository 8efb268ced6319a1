// Computes a LoRA adapter in float64: what it adds to a linear layer, and the gradients of its
// factors.
import { factorNames } from '../layout/lora.ts'
import { add, gradOf, linear, linearBackward, type RefArrays } from './operations.ref.ts'

/** A and B by PEFT's names (factorNames) and what B A x is multiplied by, for each module; or
 * steering vectors by their names (vectorName). */
export interface RefAdapter {
  readonly factors: RefArrays
  readonly scaleOf: (module: string) => number
}

/** y = x W^T + bias + scale · x A^T B^T, for the module's weights in `params` and its factors,
 * where it has any. */
export function adaptedLinear(
  params: RefArrays,
  adapter: RefAdapter | undefined,
  module: string,
  x: Float64Array,
  sizeIn: number,
): Float64Array {
  const y = linear(x, sizeIn, params[`${module}.weight`], params[`${module}.bias`])
  const { A, B } = factorsOf(adapter, module)
  if (!adapter || !A || !B) return y
  const scale = adapter.scaleOf(module)
  const added = linear(linear(x, sizeIn, A), A.length / sizeIn, B)
  return y.map((value, i) => value + scale * added[i])
}

/** Backward of adaptedLinear: returns d_x. Without an adapter adds the gradients of weight and bias
 * to `grads`; with one, those of the module's A and B alone, because the base is frozen. */
export function adaptedLinearBackward(
  params: RefArrays,
  adapter: RefAdapter | undefined,
  grads: RefArrays,
  module: string,
  x: Float64Array,
  sizeIn: number,
  d_y: Float64Array,
): Float64Array {
  const d_x = linearBackward(params, adapter ? {} : grads, module, x, sizeIn, d_y)
  const { A, B } = factorsOf(adapter, module)
  if (!adapter || !A || !B) return d_x
  const { factors } = adapter
  const names = factorNames(module)
  const rank = A.length / sizeIn
  const dAdded = d_y.map((d) => d * adapter.scaleOf(module))
  for (const name of [names.A, names.B]) gradOf(factors, grads, name)
  const through = (name: string, input: Float64Array, columns: number, d: Float64Array) =>
    linearBackward(
      { 'factor.weight': factors[name] },
      renamed(grads, name),
      'factor',
      input,
      columns,
      d,
    )
  const d_low = through(names.B, linear(x, sizeIn, A), rank, dAdded)
  return add(d_x, through(names.A, x, sizeIn, d_low))
}

const factorsOf = (adapter: RefAdapter | undefined, module: string) => {
  const { A, B } = factorNames(module)
  return { A: adapter?.factors[A], B: adapter?.factors[B] }
}

/** The gradient of one factor, under the name that linearBackward gives a weight. */
const renamed = (grads: RefArrays, name: string): RefArrays => ({ 'factor.weight': grads[name] })
