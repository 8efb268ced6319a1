// Records the transformer, forward, as a list of kernel calls; backward.ts has the other direction,
// policy.ts what follows. B rows of up to T columns, M tokens in all (model/transformer/rows.ts); C
// hidden, F intermediate, H query heads, K key/value heads, D head size, L blocks.
import { attentionKernels } from '../../kernels/attention/attention.ts'
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { embeddingForward } from '../../kernels/embedding/embedding.ts'
import { forWeight } from '../../kernels/matmul/bfloat16.ts'
import {
  type MatmulChoice,
  type MatmulProduct,
  matmulKernel,
} from '../../kernels/matmul/matmul_variants.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_forward } from '../../kernels/rope/rope.ts'
import type { Where } from '../interventions/intervention.ts'
import { type ChangedState, intervene } from '../interventions/intervention_tensors.ts'
import type { ProductName } from '../layout/adapter_layout.ts'
import type { ModelShape } from '../layout/config.ts'
import type { LayerTensors } from '../layout/params.ts'
import type { RowRange } from '../params/param_buffers.ts'
import { gateUp } from './fusion.ts'
import { storeHalves } from './kept_halves.ts'
import { addLowRank, addVector } from './low_rank.ts'
import {
  type BlockPass,
  headParams,
  type Model,
  ropeParams,
  type Tokens,
  tokensOf,
} from './model.ts'
import type { Workspace } from './workspace.ts'

/** out [M, out] = x [M, in] · weight [out, in]^T (+ residual [M, out]). */
export function linear<L extends string>(
  run: Recorder<L>['run'],
  tokens: Tokens<L>,
  {
    x,
    weight,
    out,
    residual,
  }: {
    readonly x: Tensor
    readonly weight: Tensor
    readonly out: Tensor
    readonly residual?: Tensor
  },
  choice?: MatmulChoice,
): void {
  const [n, k] = weight.shape
  const size = { m: tokens.most, n, k }
  const params = { ...size, m: tokens.count }
  if (residual) {
    const kernel = forWeight(matmulKernel(choice, 'nt_add', size), weight)
    run(kernel, { ...params, addend_stride: n }, { a: x, b: weight, addend: residual, out })
  } else {
    const kernel = forWeight(matmulKernel(choice, 'nt', size), weight)
    run(kernel, { ...params, accumulate: 0 }, { a: x, b: weight, out })
  }
}

/** q, k and v of every token: [M, C] → [M, (H + 2K) · D], with the bias where the architecture has
 * one. */
function projectQkv<L extends string>(
  run: Recorder<L>['run'],
  shape: ModelShape,
  tokens: Tokens<L>,
  { x, layer, qkv }: { readonly x: Tensor; readonly layer: LayerTensors; readonly qkv: Tensor },
  choice?: MatmulChoice,
): void {
  if (!shape.hasQkvBias) return linear(run, tokens, { x, weight: layer.qkv_proj, out: qkv }, choice)
  const size = { m: tokens.most, n: shape.qkvSize, k: shape.hidden_size }
  const tensors = { a: x, b: layer.qkv_proj, addend: layer.qkv_bias, out: qkv }
  const params = { ...size, m: tokens.count, addend_stride: 0 }
  run(forWeight(matmulKernel(choice, 'nt_add', size), layer.qkv_proj), params, tensors)
}

/** out [tokens, C] = the rows of the embedding that `input_ids` name: from each range those that it
 * has. */
export function embed<L extends string>(
  run: Recorder<L>['run'],
  embedTokens: readonly RowRange[],
  tokens: Value<L>,
  input_ids: Tensor,
  out: Tensor,
): void {
  for (const { first, tensor: weight } of embedTokens) {
    const [ids, hidden_size] = weight.shape
    const size = { tokens, hidden_size, first_id: first, ids }
    run(embeddingForward(weight), size, { input_ids, weight, out })
  }
}

/** How far a forward goes, and over what; without them through all blocks and all columns. */
export interface ForwardOptions<L extends string> {
  /** Blocks to run, from the first. */
  readonly layers?: number | undefined
  /** Called when hidden[layer] has been recorded, before later layers may overwrite it. */
  readonly onHidden?: ((layer: number) => void) | undefined
  /** Tokens of the workspace's stream, where they vary from replay to replay. */
  readonly count?: Value<L> | undefined
}

/** Runs the first `layers` blocks on ws.input_ids: fills hidden[0…layers] and what their backwards
 * need. */
export function forward<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  ws: Workspace,
  { layers = model.shape.num_hidden_layers, onHidden = () => {}, count }: ForwardOptions<L> = {},
): void {
  const tokens = tokensOf(ws, count)
  embed(recorder.run, model.weights.embed_tokens, tokens.count, ws.input_ids, ws.hidden[0])
  addVector(recorder.run, model, 0, tokens.count, ws.hidden[0])
  if (model.interventions)
    intervene(recorder.run, model.interventions, { where: 'residual', layer: 0 }, tokens, {
      state: ws.hidden[0],
    })
  onHidden(0)
  for (let l = 0; l < layers; l++) {
    blockForward(recorder, model, { ws, l, tokens })
    // The last block runs backward first, on what it has just computed.
    if (l < layers - 1) storeHalves(recorder.run, ws, l, tokens)
    onHidden(l + 1)
  }
}

/** hidden[l] → what the block's backward needs in ws.layers[l], and hidden[l+1] unless that is
 * known. */
export function blockForward<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  { ws, l, tokens }: BlockPass<L>,
  part: 'all' | 'activations' = 'all',
): void {
  const { shape, weights, inv_freq, matmul, interventions } = model
  const { hidden_size, rms_norm_eps: eps } = shape
  const { rows, width, attention_mask, cu_seqlens, position_ids } = ws
  const norm = { rows: tokens.count, cols: hidden_size, eps }
  const attention = { rows, width, ...headParams(shape), scale: shape.head_dim ** -0.5 }
  const w = weights.layers[l]
  const a = ws.layers[l]
  const x = ws.hidden[l]
  const adapt = (product: ProductName, input: Tensor, out: Tensor) =>
    addLowRank(run, model, { ws, l, tokens }, product, { x: input, y: out })
  run(rms_norm_forward, norm, {
    x,
    weight: w.input_layernorm,
    y: a.attn_in,
    inv_rms: a.attn_inv_rms,
  })
  projectQkv(run, shape, tokens, { x: a.attn_in, layer: w, qkv: a.qkv }, matmul)
  adapt('qkv_proj', a.attn_in, a.qkv)
  run(qk_norm_rope_forward, ropeParams(shape, tokens.count), {
    qkv: a.qkv,
    norm_weight: w.qk_norm,
    position_ids,
    inv_freq,
    out: a.qkv_rotated,
  })
  run(attentionKernels({ ...shape, width }).forward, attention, {
    qkv: a.qkv_rotated,
    attention_mask,
    cu_seqlens,
    out: a.context,
    lse: a.lse,
  })
  const change = (where: Where, changed: ChangedState) => {
    if (interventions) intervene(run, interventions, { where, layer: l + 1 }, tokens, changed)
  }
  change('head', { state: a.context })
  linear(run, tokens, { x: a.context, weight: w.o_proj, out: a.middle, residual: x }, matmul)
  adapt('o_proj', a.context, a.middle)
  change('attention', { state: a.middle, base_a: x })
  run(rms_norm_forward, norm, {
    x: a.middle,
    weight: w.post_attention_layernorm,
    y: a.ffn_in,
    inv_rms: a.ffn_inv_rms,
  })
  gateUp(run, model, { ws, l, tokens })
  if (part === 'activations') return
  linear(
    run,
    tokens,
    { x: a.activated, weight: w.down_proj, out: ws.hidden[l + 1], residual: a.middle },
    matmul,
  )
  adapt('down_proj', a.activated, ws.hidden[l + 1])
  addVector(run, model, l + 1, tokens.count, ws.hidden[l + 1])
  change('residual', { state: ws.hidden[l + 1], base_a: a.middle, base_b: x })
}

/** The matrix products of a forward and a backward over `tokens` tokens, for the tuner. */
export function matmulProducts(shape: ModelShape, tokens: number): MatmulProduct[] {
  const { hidden_size: C, intermediate_size: F, qkvSize, attentionSize } = shape
  const layers = [
    { out: qkvSize, in: C, forward: shape.hasQkvBias ? 'nt_add' : 'nt' },
    { out: C, in: attentionSize, forward: 'nt_add' },
    { out: 2 * F, in: C, forward: 'nt' },
    { out: C, in: F, forward: 'nt_add' },
  ] as const
  return layers.flatMap(({ out, in: input, forward }): MatmulProduct[] => [
    { op: forward, m: tokens, n: out, k: input },
    { op: 'nn', m: tokens, n: input, k: out },
    { op: 'tn', m: out, n: input, k: tokens },
  ])
}
