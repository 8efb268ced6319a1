// The transformer, backward, as a list of kernel calls: the last line of the forward first.
// B rows of up to T columns, M tokens in all (model/transformer/rows.ts); C hidden, F intermediate, H query heads, K key/value heads, D head size, L blocks.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import { derived, type Recorder, type Value } from '../../kernels/device/program.ts'
import type { Tensor } from '../../kernels/device/tensor.ts'
import { embeddingBackward, NO_PADDING } from '../../kernels/embedding/embedding.ts'
import { type MatmulChoice, matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { reduceRows } from '../../kernels/reduce/reduce.ts'
import { rms_norm_backward, rms_norm_weight_grad } from '../../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_backward } from '../../kernels/rope/rope.ts'
import { vocabHeadKernels } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelShape } from '../params/config.ts'
import { oneRange, type RowRange } from '../params/param_buffers.ts'
import type { ParamGradients } from '../params/params.ts'
import { type Readout, readsNormed } from '../params/readout.ts'
import { gateUpGrad, qkvGrad } from './fusion.ts'
import { headParams, type Model, ropeParams, type Tokens, tokensOf } from './model.ts'
import { headParamsOf, scoredResponse } from './policy.ts'
import { blockForward } from './transformer.ts'
import {
  type BackwardScratch,
  type LayerActivations,
  NORM_ROWS_PER_BLOCK,
  type Workspace,
} from './workspace.ts'

/**
 * Gradient of everything that readPolicy(layer, readout) used, from ws.response.d_log_probs and d_entropy.
 * Adds to `grads` (clear them first): embedding, head and blocks 1…layer; the final norm's weight where it was read through;
 * nothing for what `grads` do not have. Blocks above `layer` are not run. `count` as in forward().
 */
export function backward<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'clear'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  layer: number,
  inv_temperature: Value<L>,
  count?: Value<L>,
  readout: Readout = 'raw',
): void {
  const { shape, weights } = model
  const { run } = recorder
  const scratch = backwardScratch(ws)
  const { d_hidden, d_normed } = scratch
  const is_normed = readsNormed(shape, layer, readout)
  const d_read = is_normed ? d_normed : d_hidden

  // log_probs, entropy = head(hidden · E^T)
  const { scored, lse, entropy, d_log_probs, d_entropy } = ws.response
  const head = {
    hidden: is_normed ? ws.normed : ws.hidden[layer],
    weight: oneRange(weights.lm_head),
    scored,
    lse,
    entropy,
    d_log_probs,
    d_entropy,
  }
  const head_size = { ...headParamsOf(shape, scoredResponse(ws)), inv_temperature }
  const { backward_hidden, backward_weight } = vocabHeadKernels(shape)
  recorder.clear(d_read)
  run(backward_hidden, head_size, { ...head, d_hidden: d_read })
  if (grads.lm_head) {
    const splits = ws.head_splits
    run(backward_weight, { ...head_size, splits }, { ...head, partials: scratch.head_partials })
    const sums = { rows: splits, cols: shape.vocab_size * shape.hidden_size }
    run(reduceRows(splits), sums, { x: scratch.head_partials, out: oneRange(grads.lm_head) })
  }

  backwardStates(recorder, model, grads, ws, layer, count, readout)
}

/**
 * From the gradient of what a policy of `layer` or a value head read (ws.backward.d_normed for the final norm's output,
 * d_hidden below it) down to the embedding. Adds to `grads`.
 */
export function backwardStates<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  layer: number,
  count?: Value<L>,
  readout: Readout = 'raw',
): void {
  const { run } = recorder
  const { shape, weights } = model
  const tokens = tokensOf(ws, count)
  if (readsNormed(shape, layer, readout)) {
    // normed = rms_norm(hidden[layer])
    const x = ws.hidden[layer]
    normBackward(run, shape, ws, tokens, x, weights.norm, ws.normed_inv_rms, grads.norm, 0)
  }
  for (let l = layer - 1; l >= 0; l--) {
    // The last block's activations are still there.
    if (ws.is_recomputed && l < layer - 1)
      blockForward(recorder, model, ws, l, tokens, 'activations')
    blockBackward(run, model, grads, ws, l, tokens)
  }

  if (grads.embed_tokens) embeddingGrad(run, shape, ws, tokens, grads.embed_tokens)
}

/** hidden[0] = E[input_ids]: each range of rows gets the gradients of the ids that it has. */
function embeddingGrad<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  ws: Workspace,
  tokens: Tokens<L>,
  ranges: readonly RowRange[],
): void {
  const { d_hidden: d_out } = backwardScratch(ws)
  const { hidden_size, padding_idx = NO_PADDING } = shape
  for (const { first, tensor: d_weight } of ranges) {
    const size = { tokens: tokens.count, hidden_size, first_id: first, ids: d_weight.shape[0] }
    const tensors = { input_ids: ws.input_ids, d_out, d_weight }
    run(embeddingBackward(shape), { ...size, padding_idx }, tensors)
  }
}

/** Room for gradients. Throws where the workspace was made without. */
export function backwardScratch({ backward }: Workspace): BackwardScratch {
  if (!backward) throw new Error('backward: this workspace keeps no activations')
  return backward
}

/** One block, last line of the forward first. d_hidden enters as the gradient of hidden[l+1], leaves as that of hidden[l]. */
function blockBackward<L extends string>(
  run: Recorder<L>['run'],
  model: Model,
  grads: ParamGradients,
  ws: Workspace,
  l: number,
  tokens: Tokens<L>,
): void {
  const { shape, weights, inv_freq, matmul } = model
  const d = backwardScratch(ws)
  const a = ws.layers[l]
  const w = weights.layers[l]
  const g = grads.layers[l]

  // hidden[l+1] = middle + activated · down^T
  weightGrad(run, matmul, tokens, d.d_hidden, a.activated, g?.down_proj)
  // activated = silu(gate) · up
  gateUpGrad(run, model, tokens, w.down_proj, a.gate_up, d)
  // gate_up = ffn_in · gate_up_proj^T
  inputGrad(run, matmul, tokens, d.d_gate_up, w.gate_up_proj, d.d_normed)
  weightGrad(run, matmul, tokens, d.d_gate_up, a.ffn_in, g?.gate_up_proj)
  // ffn_in = rms_norm(middle)
  const ffn_norm = w.post_attention_layernorm
  const d_ffn_norm = g?.post_attention_layernorm
  normBackward(run, shape, ws, tokens, a.middle, ffn_norm, a.ffn_inv_rms, d_ffn_norm, 1)

  // middle = hidden[l] + context · o^T
  inputGrad(run, matmul, tokens, d.d_hidden, w.o_proj, d.d_context)
  weightGrad(run, matmul, tokens, d.d_hidden, a.context, g?.o_proj)
  // context = attention(qkv_rotated)
  attentionGrad(run, shape, ws, a, d)
  // qkv_rotated = rope(qk_norm(qkv))
  run(qk_norm_rope_backward, ropeParams(shape, tokens.count), {
    qkv: a.qkv,
    norm_weight: w.qk_norm,
    position_ids: ws.position_ids,
    inv_freq,
    d_out: d.d_qkv_rotated,
    d_qkv: d.d_qkv,
    d_norm_partials: d.d_qk_norm,
  })
  if (shape.has_qk_norm && g)
    run(
      reduceRows(tokens.most),
      { rows: tokens.count, cols: 2 * shape.head_dim },
      { x: d.d_qk_norm, out: g.qk_norm },
    )
  // qkv = attn_in · qkv_proj^T + bias
  inputGrad(run, matmul, tokens, d.d_qkv, w.qkv_proj, d.d_normed)
  if (g) qkvGrad(run, model, tokens, d.d_qkv, a.attn_in, g)
  // attn_in = rms_norm(hidden[l])
  const attn_norm = w.input_layernorm
  const x = ws.hidden[l]
  normBackward(run, shape, ws, tokens, x, attn_norm, a.attn_inv_rms, g?.input_layernorm, 1)
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
  const { backward_query, backward_key_value } = attentionKernels(size)
  run(backward_query, size, attention)
  run(backward_key_value, size, attention)
}

/** d_x [M, in] = d_y [M, out] · weight [out, in]. */
function inputGrad<L extends string>(
  run: Recorder<L>['run'],
  choice: MatmulChoice | undefined,
  tokens: Tokens<L>,
  d_y: Tensor,
  weight: Tensor,
  d_x: Tensor,
): void {
  const [k, n] = weight.shape
  const kernel = matmulKernel(choice, 'nn', { m: tokens.most, n, k })
  run(kernel, { m: tokens.count, n, k, accumulate: 0 }, { a: d_y, b: weight, out: d_x })
}

/** d_weight [out, in] += d_y [M, out]^T · x [M, in]; nothing for a frozen weight. */
function weightGrad<L extends string>(
  run: Recorder<L>['run'],
  choice: MatmulChoice | undefined,
  tokens: Tokens<L>,
  d_y: Tensor,
  x: Tensor,
  d_weight: Tensor | undefined,
): void {
  if (!d_weight) return
  const [m, n] = d_weight.shape
  const kernel = matmulKernel(choice, 'tn', { m, n, k: tokens.most })
  run(kernel, { m, n, k: tokens.count, accumulate: 1 }, { a: d_y, b: x, out: d_weight })
}

/** Backward of y = rms_norm(x): d_hidden (+)= from d_normed, and the norm's weight gradient unless that is frozen. */
function normBackward<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  ws: Workspace,
  tokens: Tokens<L>,
  x: Tensor,
  weight: Tensor,
  inv_rms: Tensor,
  d_weight: Tensor | undefined,
  accumulate: 0 | 1,
): void {
  const { d_normed: d_y, d_hidden: d_x, norm_partials: partials } = backwardScratch(ws)
  const rows = tokens.count
  const cols = shape.hidden_size
  run(rms_norm_backward, { rows, cols, accumulate }, { x, weight, inv_rms, d_y, d_x })
  if (!d_weight) return
  const rows_per_block = NORM_ROWS_PER_BLOCK
  run(rms_norm_weight_grad, { rows, cols, rows_per_block }, { x, inv_rms, d_y, partials })
  const most = Math.ceil(tokens.most / rows_per_block)
  const blocks = derived(rows, (count) => Math.ceil(count / rows_per_block))
  run(reduceRows(most), { rows: blocks, cols }, { x: partials, out: d_weight })
}
