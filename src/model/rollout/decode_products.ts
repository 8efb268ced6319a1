// Computes the matrix products of one decoded token.
import { decode_swiglu } from '../../kernels/decode/decode.ts'
import { decode_linear_normed, decode_swiglu_normed } from '../../kernels/decode/decode_normed.ts'
import { chosenDecodeKernel, decodeLinearKernel } from '../../kernels/decode/decode_variants.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { forWeight } from '../../kernels/matmul/bfloat16.ts'
import { matmul_nt, matmul_nt_add } from '../../kernels/matmul/matmul.ts'
import { exactChoice } from '../../kernels/matmul/matmul_variants.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { swiglu_forward } from '../../kernels/swiglu/swiglu.ts'
import type { ProductName } from '../layout/adapter_layout.ts'
import type { RowRange } from '../params/param_buffers.ts'
import { addNarrowed } from '../transformer/low_rank.ts'
import { exactly } from '../transformer/model.ts'
import { embed, linear } from '../transformer/transformer.ts'
import type { Recording } from './recording.ts'
import { isFused } from './rollout_tensors.ts'

/** out = x · weightᵀ (+ addend: a residual [B, n], or a bias [n]) for the rows that have not
 * ended. */
export function decodeLinear(
  { recorder: { run }, model, cache: { rows }, tensors: { ended }, normsInside }: Recording,
  x: Tensor,
  weight: Tensor,
  out: Tensor,
  addend?: Tensor,
): void {
  const [n, k] = weight.shape
  const addend_stride = addend && addend.shape.length > 1 ? n : 0
  const size = { m: rows, n, k }
  if (isFused(k)) {
    const params = { ...size, has_addend: addend ? 1 : 0, addend_stride }
    const tensors = { a: x, b: weight, addend: addend ?? x, ended, out }
    run(forWeight(decodeLinearKernel(model.matmul, size, normsInside), weight), params, tensors)
  } else if (addend)
    run(
      forWeight(matmul_nt_add, weight),
      { ...size, addend_stride },
      { a: x, b: weight, addend, out },
    )
  else run(forWeight(matmul_nt, weight), { ...size, accumulate: 0 }, { a: x, b: weight, out })
}

/** Adds to y what an adapter, if there is one, makes of x. */
export function decodeAdapter(
  recording: Recording,
  l: number,
  product: ProductName,
  x: Tensor,
  y: Tensor,
): void {
  const { recorder, model, cache, tensors } = recording
  const { low } = tensors.decode
  // A learns, so it is never rounded.
  const exact = { ...recording, model: { ...model, matmul: exactChoice(model.matmul) } }
  addNarrowed(
    recorder.run,
    model,
    { tokens: exactly(cache.rows), l, product },
    { low, y },
    (weight, out) => decodeLinear(exact, x, weight, out),
  )
}

/** States that products begin to norm. */
export interface States {
  /** [rows, C]. */
  readonly x: Tensor
  readonly norm_weight: Tensor
  /** Where x is yet to hold them: the rows that `ids` names. */
  readonly gathered?: { readonly from: readonly RowRange[]; readonly ids: Tensor }
  /** Every row that has not ended, or the prompts. */
  readonly of: 'tokens' | 'prompts'
}

/** out = norm(states) · weightᵀ (+ bias), with weight [n, C]. */
type NormedProduct = (weight: Tensor, out: Tensor, bias?: Tensor) => void

/** Whether products of normed states begin with the norm: an adapter reads its result. */
const isInside = ({ normsInside = false, model }: Recording): boolean =>
  normsInside && !model.adapter && isFused(model.shape.hidden_size)

/** Products of `rows` normed states with weights of n rows. Each of them begins with the norm where
 * that is recorded so and the product has no kernel of its own choice; else the norm runs now, into
 * decode.normed. */
export function normedProducts(
  recording: Recording,
  { x, norm_weight, gathered, of }: States,
  rows: number,
  n: number,
): NormedProduct {
  const { recorder, model, tensors } = recording
  const { run } = recorder
  const { hidden_size: k, rms_norm_eps: eps } = model.shape
  const { ended, decode } = tensors
  const { normed } = decode
  const inside = isInside(recording) && !chosenDecodeKernel(model.matmul, { m: rows, n, k })
  const source = inside && gathered ? wholeOf(gathered.from) : undefined
  if (gathered && !source) embed(run, gathered.from, rows, gathered.ids, x)
  if (!inside) {
    norm(recording, x, norm_weight, rows)
    return of === 'tokens'
      ? (weight, out, bias) => decodeLinear(recording, normed, weight, out, bias)
      : (weight, out) => linear(run, exactly(rows), { x: normed, weight, out }, model.matmul)
  }
  const size = { m: rows, k, addend_stride: 0, eps, gathers: source ? 1 : 0 }
  // What a product does not use is bound to what it reads, or writes, anyway.
  const rest = { norm_weight, ended, ids: source && gathered ? gathered.ids : ended }
  const a = source ?? x
  return (weight, out, bias) =>
    run(
      forWeight(decode_linear_normed, weight),
      { ...size, n: weight.shape[0], has_addend: bias ? 1 : 0 },
      { a, b: weight, addend: bias ?? norm_weight, kept: source ? x : normed, out, ...rest },
    )
}

/** The rows that a kernel can read by their ids: float32 in one range. */
const wholeOf = ([first, ...others]: readonly RowRange[]): Tensor | undefined =>
  others.length === 0 && first.tensor.dtype === 'f32' ? first.tensor : undefined

function norm({ recorder, model, tensors }: Recording, x: Tensor, weight: Tensor, rows: number) {
  const { hidden_size: cols, rms_norm_eps: eps } = model.shape
  const { normed: y, inv_rms } = tensors.decode
  recorder.run(rms_norm_forward, { rows, cols, eps }, { x, weight, y, inv_rms })
}

/** decode.activated = silu(gate) · up with gate and up of the normed x, for the rows that have not
 * ended. */
export function decodeSwiglu(recording: Recording, l: number, x: Tensor): void {
  const { recorder, model, cache, tensors } = recording
  const { normed, gate_up, activated: out } = tensors.decode
  const { hidden_size: k, intermediate_size, rms_norm_eps: eps } = model.shape
  const { gate_up_proj: b, post_attention_layernorm: norm_weight } = model.weights.layers[l]
  const size = { m: cache.rows, n: intermediate_size, k }
  const { ended } = tensors
  if (!gate_up && isInside(recording)) {
    const kernel = forWeight(decode_swiglu_normed, b)
    return recorder.run(kernel, { ...size, eps }, { a: x, norm_weight, b, ended, out })
  }
  norm(recording, x, norm_weight, cache.rows)
  if (gate_up) {
    decodeLinear(recording, normed, b, gate_up)
    decodeAdapter(recording, l, 'gate_up_proj', normed, gate_up)
    recorder.run(swiglu_forward, { rows: cache.rows, intermediate_size }, { gate_up, out })
  } else recorder.run(forWeight(decode_swiglu, b), size, { a: normed, b, ended, out })
}
