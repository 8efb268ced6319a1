// Records translators of states: an affine map per layer between the residual stream and the final
// norm, forward and backward. M tokens, C hidden.
import { derived, type Recorder, type Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { type Readout, translatedAs } from '../layout/readout.ts'
import type { TranslatorTensors } from '../params/lens_tensors.ts'
import { backwardScratch } from './block_backward.ts'
import type { Model, Tokens } from './model.ts'
import type { Workspace } from './workspace.ts'

/** The translator that a policy is read through, and where its output lies; undefined where it is
 * read without one. Throws Error where model or workspace have no room for it. */
export function translatorOf(
  { shape, lenses }: Model,
  { translated }: Workspace,
  layer: number,
  readout: Readout,
): { readonly translator: TranslatorTensors; readonly translated: Tensor } | undefined {
  const name = translatedAs(shape, layer, readout)
  if (!name) return undefined
  const translator = lenses?.[name]?.[layer]
  if (!translator || !translated)
    throw new Error(`readout: expected a ${name} lens of layer ${layer}, found none`)
  return { translator, translated }
}

/** ws.translated = hidden + residual · hidden + bias. */
export function translate<L extends string>(
  run: Recorder<L>['run'],
  { matmul }: Model,
  { count, most }: Tokens<L>,
  hidden: Tensor,
  { translator, translated }: NonNullable<ReturnType<typeof translatorOf>>,
): void {
  const [n, k] = translator.residual.shape
  const { residual: b, bias: addend } = translator
  const product = matmulKernel(matmul, 'nt_add', { m: most, n, k })
  run(product, { m: count, n, k, addend_stride: 0 }, { a: hidden, b, addend, out: translated })
  addAll(run, count, hidden, translated)
}

/** Backward of translate: ws.backward.d_hidden enters as the gradient of ws.translated and leaves
 * as that of `hidden`; d_normed is overwritten. Adds the gradient of the translator to `grads`. */
export function translateGrad<L extends string>(
  run: Recorder<L>['run'],
  { matmul }: Model,
  ws: Workspace,
  { count, most }: Tokens<L>,
  {
    hidden,
    translator,
    grads,
  }: {
    readonly hidden: Tensor
    readonly translator: TranslatorTensors
    readonly grads: TranslatorTensors | undefined
  },
): void {
  const { d_hidden, d_normed } = backwardScratch(ws)
  const [n, k] = translator.residual.shape
  if (grads) {
    const ofWeight = matmulKernel(matmul, 'tn', { m: n, n: k, k: most })
    const size = { m: n, n: k, k: count, accumulate: 1 }
    run(ofWeight, size, { a: d_hidden, b: hidden, out: grads.residual })
    run(reduceRows(most), { rows: count, cols: n }, { x: d_hidden, out: grads.bias })
  }
  const ofInput = matmulKernel(matmul, 'nn', { m: most, n: k, k: n })
  const size = { m: count, n: k, k: n, accumulate: 0 }
  run(ofInput, size, { a: d_hidden, b: translator.residual, out: d_normed })
  addAll(run, count, d_normed, d_hidden)
}

/** out += x, the first `count` rows of both. */
export function addAll<L extends string>(
  run: Recorder<L>['run'],
  count: Value<L>,
  x: Tensor,
  out: Tensor,
): void {
  const [, C] = out.shape
  run(reduceRows(1), { rows: 1, cols: derived(count, (rows) => rows * C) }, { x, out })
}
