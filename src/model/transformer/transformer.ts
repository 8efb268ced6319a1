// The transformer, forward, as a list of kernel calls; backward.ts has the other direction.
// B rows of up to T columns, M tokens in all (model/transformer/rows.ts); C hidden, F intermediate, H query heads, K key/value heads, D head size, L blocks.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import type { Recorder, Value } from '../../kernels/device/program.ts'
import type { Tensor } from '../../kernels/device/tensor.ts'
import { embedding_forward } from '../../kernels/embedding/embedding.ts'
import type { MatmulProduct } from '../../kernels/matmul/matmul_tune.ts'
import { type MatmulChoice, matmulKernel } from '../../kernels/matmul/matmul_variants.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_forward } from '../../kernels/rope/rope.ts'
import { vocabHeadKernels } from '../../kernels/vocab_head/vocab_head.ts'
import type { ModelShape } from '../params/config.ts'
import type { LayerTensors, ParamTensors } from '../params/params.ts'
import { gateUp } from './fusion.ts'
import type { ResponseTensors, Workspace } from './workspace.ts'

/** Which steps of a training pass run inside the matrix product before them, where its kernel can (matmul_fused.ts). */
export interface Fusion {
  /** silu(gate) · up and its gradient. */
  readonly swiglu: boolean
  /** Of q, k and v, beside the weight's. */
  readonly bias_gradient: boolean
}

/** What every pass needs besides activations. */
export interface Model {
  readonly shape: ModelShape
  readonly weights: ParamTensors
  /** [D/2], from inverseFrequencies. */
  readonly inv_freq: Tensor
  /** Kernels of the linear layers, by shape; absent = the default ones. */
  readonly matmul?: MatmulChoice | undefined
  /** Absent = all of it. Off and on differ at most in the rounding of the bias gradient. */
  readonly fusion?: Fusion | undefined
}

/** Tokens of a pass: how many, perhaps only known at each replay, and how many at most, which decides on kernels. */
export interface Tokens<L extends string> {
  readonly count: Value<L>
  readonly most: number
}

/** A fixed number of tokens. */
export const exactly = (count: number): Tokens<never> => ({ count, most: count })

/** All that a workspace has room for, or `count` of it. */
export const tokensOf = <L extends string>(
  { rows, width }: Workspace,
  count: Value<L> = rows * width,
): Tokens<L> => ({ count, most: rows * width })

/** out [M, out] = x [M, in] · weight [out, in]^T (+ residual [M, out]). */
export function linear<L extends string>(
  run: Recorder<L>['run'],
  tokens: Tokens<L>,
  x: Tensor,
  weight: Tensor,
  out: Tensor,
  residual?: Tensor,
  choice?: MatmulChoice,
): void {
  const [n, k] = weight.shape
  const size = { m: tokens.most, n, k }
  const params = { ...size, m: tokens.count }
  if (residual) {
    const kernel = matmulKernel(choice, 'nt_add', size)
    run(kernel, { ...params, addend_stride: n }, { a: x, b: weight, addend: residual, out })
  } else
    run(matmulKernel(choice, 'nt', size), { ...params, accumulate: 0 }, { a: x, b: weight, out })
}

/** q, k and v of every token: [M, C] → [M, (H + 2K) · D], with the bias where the architecture has one. */
function projectQkv<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  tokens: Tokens<L>,
  x: Tensor,
  layer: LayerTensors,
  qkv: Tensor,
  choice?: MatmulChoice,
): void {
  if (!shape.has_qkv_bias) return linear(run, tokens, x, layer.qkv_proj, qkv, undefined, choice)
  const size = { m: tokens.most, n: shape.qkv_size, k: shape.hidden_size }
  const tensors = { a: x, b: layer.qkv_proj, addend: layer.qkv_bias, out: qkv }
  const params = { ...size, m: tokens.count, addend_stride: 0 }
  run(matmulKernel(choice, 'nt_add', size), params, tensors)
}

/** The parameters that the rotary kernel and the attention kernels share. */
export const headParams = (shape: ModelShape) => ({
  num_attention_heads: shape.num_attention_heads,
  num_key_value_heads: shape.num_key_value_heads,
  head_dim: shape.head_dim,
})

/** Per-head norm (Qwen3) and rotation: params of qk_norm_rope_*. */
export const ropeParams = <T>(shape: ModelShape, tokens: T) => ({
  tokens,
  ...headParams(shape),
  has_qk_norm: shape.has_qk_norm ? 1 : 0,
  eps: shape.rms_norm_eps,
})

/**
 * Runs the first `layers` blocks on ws.input_ids: fills hidden[0…layers] and what their backwards need.
 * `onHidden(l)` is called when hidden[l] has been recorded, before later layers may overwrite it. `count` = tokens of ws's
 * stream, where it varies from replay to replay.
 */
export function forward<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  layers: number = model.shape.num_hidden_layers,
  onHidden: (layer: number) => void = () => {},
  count?: Value<L>,
): void {
  const tokens = tokensOf(ws, count)
  const embed = { tokens: tokens.count, hidden_size: model.shape.hidden_size }
  const { input_ids } = ws
  const out = ws.hidden[0]
  recorder.run(embedding_forward, embed, { input_ids, weight: model.weights.embed_tokens, out })
  onHidden(0)
  for (let l = 0; l < layers; l++) {
    blockForward(recorder, model, ws, l, tokens)
    onHidden(l + 1)
  }
}

/** hidden[l] → what the block's backward needs in ws.layers[l], and hidden[l+1] unless that is known. */
export function blockForward<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  l: number,
  tokens: Tokens<L>,
  part: 'all' | 'activations' = 'all',
): void {
  const { shape, weights, inv_freq, matmul } = model
  const { hidden_size, rms_norm_eps: eps } = shape
  const { rows, width, attention_mask, cu_seqlens, position_ids } = ws
  const norm = { rows: tokens.count, cols: hidden_size, eps }
  const attention = { rows, width, ...headParams(shape), scale: shape.head_dim ** -0.5 }
  const w = weights.layers[l]
  const a = ws.layers[l]
  const x = ws.hidden[l]
  run(rms_norm_forward, norm, {
    x,
    weight: w.input_layernorm,
    y: a.attn_in,
    inv_rms: a.attn_inv_rms,
  })
  projectQkv(run, shape, tokens, a.attn_in, w, a.qkv, matmul)
  run(qk_norm_rope_forward, ropeParams(shape, tokens.count), {
    qkv: a.qkv,
    norm_weight: w.qk_norm,
    position_ids,
    inv_freq,
    out: a.qkv_rotated,
  })
  run(attentionKernels(attention).forward, attention, {
    qkv: a.qkv_rotated,
    attention_mask,
    cu_seqlens,
    out: a.context,
    lse: a.lse,
  })
  linear(run, tokens, a.context, w.o_proj, a.middle, x, matmul)
  run(rms_norm_forward, norm, {
    x: a.middle,
    weight: w.post_attention_layernorm,
    y: a.ffn_in,
    inv_rms: a.ffn_inv_rms,
  })
  gateUp(run, model, tokens, w.gate_up_proj, a)
  if (part === 'all')
    linear(run, tokens, a.activated, w.down_proj, ws.hidden[l + 1], a.middle, matmul)
}

/** Final norm of hidden[layer] into ws.normed. */
export function finalNorm<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  { shape, weights }: Model,
  ws: Workspace,
  layer: number,
  count: Value<L> = ws.rows * ws.width,
): void {
  run(
    rms_norm_forward,
    { rows: count, cols: shape.hidden_size, eps: shape.rms_norm_eps },
    { x: ws.hidden[layer], weight: weights.norm, y: ws.normed, inv_rms: ws.normed_inv_rms },
  )
}

/** Which tokens the vocabulary head scores, and by which states (kernels/vocab_head/scored.ts). */
export interface Scored {
  /** Entries of the list. */
  readonly tokens: number
  /** u32 [tokens, 4] */
  readonly scored: Tensor
}

/** What the vocabulary head says of each token, in the place that the list names. */
export type PolicyTensors = Pick<
  ResponseTensors,
  'log_probs' | 'entropy' | 'lse' | 'sum_pi_squared'
>

export const headParamsOf = (shape: ModelShape, { tokens }: Scored) => ({
  tokens,
  hidden_size: shape.hidden_size,
  vocab_size: shape.vocab_size,
})

/** The response tokens of a workspace. */
export const scoredResponse = ({ rows, response_length, response }: Workspace): Scored => ({
  tokens: rows * response_length,
  scored: response.scored,
})

/**
 * The policy softmax(hidden · E^T · inv_temperature) of any states `hidden` [M, C], as they are: no norm.
 * Every policy of the model, trained or shown, is read here.
 */
export function unembed<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  { shape, weights }: Model,
  hidden: Tensor,
  scored: Scored,
  inv_temperature: Value<L>,
  { log_probs, entropy, lse, sum_pi_squared }: PolicyTensors,
): void {
  run(
    vocabHeadKernels(shape).forward,
    { ...headParamsOf(shape, scored), inv_temperature },
    {
      hidden,
      weight: weights.lm_head,
      scored: scored.scored,
      log_probs,
      entropy,
      lse,
      sum_pi_squared,
    },
  )
}

/**
 * How an inner layer's policy is read: 'raw' = its states as they are (BuPO eq. 5, arXiv 2512.19673), 'normed' = with the
 * final norm first (the logit lens, there table 5). The last layer's always has the norm.
 */
export type Readout = 'raw' | 'normed'

/** Whether a policy is read through the final norm. */
export const readsNormed = (
  { num_hidden_layers }: Pick<ModelShape, 'num_hidden_layers'>,
  layer: number,
  readout: Readout,
): boolean => layer === num_hidden_layers || readout === 'normed'

/**
 * The policy read after `layer` blocks, scored on ws.response: log_probs, entropy, lse and
 * sum_pi_squared, [rows, R], each into ws.response unless `out` has another place for it.
 * layer < L: softmax(hidden[layer] · E^T), or of the normed states (see Readout); layer = L: the model's own, with the
 * final norm. Training and display both call this.
 */
export function readPolicy<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  layer: number,
  inv_temperature: Value<L>,
  out: Partial<PolicyTensors> = {},
  count?: Value<L>,
  readout: Readout = 'raw',
): void {
  const is_normed = readsNormed(model.shape, layer, readout)
  if (is_normed) finalNorm(recorder, model, ws, layer, count)
  const hidden = is_normed ? ws.normed : ws.hidden[layer]
  unembed(recorder, model, hidden, scoredResponse(ws), inv_temperature, { ...ws.response, ...out })
}

/** The matrix products of a forward and a backward over `tokens` tokens, for the tuner. */
export function matmulProducts(shape: ModelShape, tokens: number): MatmulProduct[] {
  const { hidden_size: C, intermediate_size: F, qkv_size, attention_size } = shape
  const layers = [
    { out: qkv_size, in: C, forward: shape.has_qkv_bias ? 'nt_add' : 'nt' },
    { out: C, in: attention_size, forward: 'nt_add' },
    { out: 2 * F, in: C, forward: 'nt' },
    { out: C, in: F, forward: 'nt_add' },
  ] as const
  return layers.flatMap(({ out, in: input, forward }): MatmulProduct[] => [
    { op: forward, m: tokens, n: out, k: input },
    { op: 'nn', m: tokens, n: input, k: out },
    { op: 'tn', m: out, n: input, k: tokens },
  ])
}
