// Records one block of the transformer, backward, as a list of kernel calls: the last line of
// transformer.ts's blockForward first. M tokens in all (model/transformer/rows.ts); C hidden, F
// intermediate, H query heads, K key/value heads, D head size.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import { derived, type Recorder } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { forWeight } from '../../kernels/matmul/bfloat16.ts'
import { type MatmulChoice, matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { rms_norm_backward, rms_norm_weight_grad } from '../../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_backward } from '../../kernels/rope/rope.ts'
import type { ProductName } from '../layout/adapter_layout.ts'
import type { ModelShape } from '../layout/config.ts'
import type { ParamGradients } from '../params/param_tensors.ts'
import { gateUpGrad, qkvGrad } from './fusion.ts'
import { lowRankGrad } from './low_rank.ts'
import { type BlockPass, headParams, type Model, ropeParams, type Tokens } from './model.ts'
import {
  type BackwardScratch,
  type LayerActivations,
  NORM_ROWS_PER_BLOCK,
  type Workspace,
} from './workspace.ts'

/** One block, last line of the forward first. d_hidden enters as the gradient of hidden[l+1],
 * leaves as that of hidden[l]; where the block is the lowest that is trained, nothing below its
 * lowest trained product is computed. */
export function blockBackward<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  grads: ParamGradients,
  { ws, l, tokens }: BlockPass<L>,
  isLowest: boolean,
): void {
  const { shape, weights, matmul } = model
  const d = backwardScratch(ws)
  const a = ws.layers[l]
  const w = weights.layers[l]
  const g = grads.layers[l]
  const adapted = (product: ProductName, x: Tensor, d_y: Tensor, d_x: Tensor | undefined) =>
    lowRankGrad(run, model, grads.adapter, { ws, l, tokens }, { product, x, d_y, d_x })
  const own = grads.adapter?.blocks[l] ?? {}
  const needsQkv = !isLowest || g !== undefined || own.qkv_proj !== undefined
  const needsO = needsQkv || own.o_proj !== undefined
  const needsGateUp = needsO || own.gate_up_proj !== undefined

  // hidden[l+1] = middle + activated · down^T
  weightGrad(run, matmul, tokens, { d_y: d.d_hidden, x: a.activated, d_weight: g?.down_proj })
  if (!needsGateUp) return adapted('down_proj', a.activated, d.d_hidden, undefined)
  // activated = silu(gate) · up
  gateUpGrad(run, model, grads.adapter, { ws, l, tokens }, d)
  // gate_up = ffn_in · gate_up_proj^T
  weightGrad(run, matmul, tokens, { d_y: d.d_gate_up, x: a.ffn_in, d_weight: g?.gate_up_proj })
  if (!needsO) return adapted('gate_up_proj', a.ffn_in, d.d_gate_up, undefined)
  inputGrad(run, matmul, tokens, { d_y: d.d_gate_up, weight: w.gate_up_proj, d_x: d.d_normed })
  adapted('gate_up_proj', a.ffn_in, d.d_gate_up, d.d_normed)
  // ffn_in = rms_norm(middle)
  const ffnNorm = { x: a.middle, weight: w.post_attention_layernorm, inv_rms: a.ffn_inv_rms }
  normGrad(run, ws, tokens, ffnNorm, 1)
  normWeightGrad(run, ws, tokens, ffnNorm, g?.post_attention_layernorm)

  // middle = hidden[l] + context · o^T
  weightGrad(run, matmul, tokens, { d_y: d.d_hidden, x: a.context, d_weight: g?.o_proj })
  if (!needsQkv) return adapted('o_proj', a.context, d.d_hidden, undefined)
  inputGrad(run, matmul, tokens, { d_y: d.d_hidden, weight: w.o_proj, d_x: d.d_context })
  adapted('o_proj', a.context, d.d_hidden, d.d_context)
  // context = attention(qkv_rotated)
  attentionGrad(run, shape, ws, a, d)
  rotatedGrad(run, model, { ws, l, tokens }, g?.qk_norm)
  // qkv = attn_in · qkv_proj^T + bias
  if (g) qkvGrad(run, model, tokens, { d_qkv: d.d_qkv, attn_in: a.attn_in }, g)
  const needsAttnIn = !isLowest || g !== undefined
  if (!needsAttnIn) return adapted('qkv_proj', a.attn_in, d.d_qkv, undefined)
  inputGrad(run, matmul, tokens, { d_y: d.d_qkv, weight: w.qkv_proj, d_x: d.d_normed })
  adapted('qkv_proj', a.attn_in, d.d_qkv, d.d_normed)
  // attn_in = rms_norm(hidden[l])
  const attnNorm = { x: ws.hidden[l], weight: w.input_layernorm, inv_rms: a.attn_inv_rms }
  if (!isLowest) normGrad(run, ws, tokens, attnNorm, 1)
  normWeightGrad(run, ws, tokens, attnNorm, g?.input_layernorm)
}

/** qkv_rotated = rope(qk_norm(qkv)): d_qkv from d_qkv_rotated, and the gradient of the norms'
 * weights unless they are frozen. */
function rotatedGrad<L extends string>(
  run: Recorder<L>['run'],
  { shape, weights, inv_freq }: Model,
  { ws, l, tokens }: BlockPass<L>,
  d_weight: Tensor | undefined,
): void {
  const d = backwardScratch(ws)
  run(qk_norm_rope_backward, ropeParams(shape, tokens.count), {
    qkv: ws.layers[l].qkv,
    norm_weight: weights.layers[l].qk_norm,
    position_ids: ws.position_ids,
    inv_freq,
    d_out: d.d_qkv_rotated,
    d_qkv: d.d_qkv,
    d_norm_partials: d.d_qk_norm,
  })
  if (shape.has_qk_norm && d_weight)
    run(
      reduceRows(tokens.most),
      { rows: tokens.count, cols: 2 * shape.head_dim },
      { x: d.d_qk_norm, out: d_weight },
    )
}

/** d_qkv_rotated [M, (H + 2K) · D] from d_context [M, H · D]. */
function attentionGrad<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  ws: Workspace,
  { qkv_rotated, context, lse }: LayerActivations,
  { d_context, d_qkv_rotated }: BackwardScratch,
): void {
  const size = {
    rows: ws.rows,
    width: ws.width,
    ...headParams(shape),
    scale: shape.head_dim ** -0.5,
  }
  const attention = {
    qkv: qkv_rotated,
    attention_mask: ws.attention_mask,
    cu_seqlens: ws.cu_seqlens,
    out: context,
    lse,
    d_out: d_context,
    d_qkv: d_qkv_rotated,
  }
  const { backwardQuery, backwardKeyValue } = attentionKernels({ ...shape, width: ws.width })
  run(backwardQuery, size, attention)
  run(backwardKeyValue, size, attention)
}

/** d_x [M, in] = d_y [M, out] · weight [out, in]. */
function inputGrad<L extends string>(
  run: Recorder<L>['run'],
  choice: MatmulChoice | undefined,
  tokens: Tokens<L>,
  { d_y, weight, d_x }: { readonly d_y: Tensor; readonly weight: Tensor; readonly d_x: Tensor },
): void {
  const [k, n] = weight.shape
  const kernel = forWeight(matmulKernel(choice, 'nn', { m: tokens.most, n, k }), weight)
  run(kernel, { m: tokens.count, n, k, accumulate: 0 }, { a: d_y, b: weight, out: d_x })
}

/** d_weight [out, in] += d_y [M, out]^T · x [M, in]; nothing for a frozen weight. */
function weightGrad<L extends string>(
  run: Recorder<L>['run'],
  choice: MatmulChoice | undefined,
  tokens: Tokens<L>,
  {
    d_y,
    x,
    d_weight,
  }: { readonly d_y: Tensor; readonly x: Tensor; readonly d_weight: Tensor | undefined },
): void {
  if (!d_weight) return
  const [m, n] = d_weight.shape
  const kernel = matmulKernel(choice, 'tn', { m, n, k: tokens.most })
  run(kernel, { m, n, k: tokens.count, accumulate: 1 }, { a: d_y, b: x, out: d_weight })
}

/** Backward of y = rms_norm(x): d_hidden (+)= from d_normed. */
export function normGrad<L extends string>(
  run: Recorder<L>['run'],
  ws: Workspace,
  tokens: Tokens<L>,
  { x, weight, inv_rms }: { readonly x: Tensor; readonly weight: Tensor; readonly inv_rms: Tensor },
  accumulate: 0 | 1,
): void {
  const { d_normed: d_y, d_hidden: d_x } = backwardScratch(ws)
  const size = { rows: tokens.count, cols: weight.shape[0], accumulate }
  run(rms_norm_backward, size, { x, weight, inv_rms, d_y, d_x })
}

/** Adds to the gradient of a norm's weight [C], from d_normed; nothing for a frozen one. */
export function normWeightGrad<L extends string>(
  run: Recorder<L>['run'],
  ws: Workspace,
  tokens: Tokens<L>,
  { x, inv_rms }: { readonly x: Tensor; readonly inv_rms: Tensor },
  d_weight: Tensor | undefined,
): void {
  if (!d_weight) return
  const { d_normed: d_y, norm_partials: partials } = backwardScratch(ws)
  const rows_per_block = NORM_ROWS_PER_BLOCK
  const rows = tokens.count
  const cols = d_weight.shape[0]
  run(rms_norm_weight_grad, { rows, cols, rows_per_block }, { x, inv_rms, d_y, partials })
  const most = Math.ceil(tokens.most / rows_per_block)
  const blocks = derived(rows, (count) => Math.ceil(count / rows_per_block))
  run(reduceRows(most), { rows: blocks, cols }, { x: partials, out: d_weight })
}

/** Room for gradients. Throws where the workspace was made without. */
export function backwardScratch({ backward }: Workspace): BackwardScratch {
  if (!backward) throw new Error('backward: this workspace keeps no activations')
  return backward
}
