// Translators of states: an affine map per layer between the residual stream and the final norm,
// forward and backward. M tokens, C hidden.
import { derived, type Recorder, type Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import { matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { CHUNK } from '../layout/flat_params.ts'
import { type Readout, type TranslatedReadout, translatedAs } from '../layout/readout.ts'
import { backwardScratch } from './block_backward.ts'
import type { Model, Tokens } from './model.ts'
import type { Workspace } from './workspace.ts'

/** state + residual · state + bias. With zeros a state stays what it is, to the bit. */
export interface TranslatorTensors {
  /** The matrix less the identity, [C, C], out by in. */
  readonly residual: Tensor
  /** [C]; zeros of a Jacobian lens. */
  readonly bias: Tensor
}

/** Of each layer below the last, by number of blocks. */
export type LensTensors = readonly TranslatorTensors[]

/** The lenses that a model can be read through. */
export type Lenses = Readonly<Partial<Record<TranslatedReadout, LensTensors>>>

const wholeChunks = (count: number) => Math.ceil(count / CHUNK) * CHUNK

/** Elements of one translator in a flat array. */
export const translatorSize = (hidden_size: number): number =>
  wholeChunks(hidden_size ** 2) + wholeChunks(hidden_size)

/** Translators one behind the other in `flat`, [count · translatorSize]. */
export function translatorViews(
  alloc: Allocator,
  flat: Tensor,
  hidden_size: number,
  count: number,
): LensTensors {
  const C = hidden_size
  return Array.from({ length: count }, (_, i) => {
    const at = i * translatorSize(C)
    return {
      residual: alloc.view(flat, `${flat.label}.${i}.residual`, at, [C, C]),
      bias: alloc.view(flat, `${flat.label}.${i}.bias`, at + wholeChunks(C ** 2), [C]),
    }
  })
}

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
function addAll<L extends string>(
  run: Recorder<L>['run'],
  count: Value<L>,
  x: Tensor,
  out: Tensor,
): void {
  const [, C] = out.shape
  run(reduceRows(1), { rows: 1, cols: derived(count, (rows) => rows * C) }, { x, out })
}
