// Holds the activations of one micro-batch. A training pass keeps every layer's; a rollout or a
// probe shares one set.
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { ModelShape } from '../layout/config.ts'
import { gradientElements } from './head_ranges.ts'
import { createResponse, type ResponseTensors } from './response_tensors.ts'

/** What one block leaves for its backward. M = rows · width tokens at most. */
export interface LayerActivations {
  /** After input_layernorm, [M, C]. */
  readonly attn_in: Tensor
  /** [M] */
  readonly attn_inv_rms: Tensor
  /** As projected, [M, (H + 2K) · D]. */
  readonly qkv: Tensor
  /** Normed per head and rotated; v as in qkv. */
  readonly qkv_rotated: Tensor
  /** Attention output before o_proj, [M, H · D]. */
  readonly context: Tensor
  /** Log-sum-exp of the attention scores, [M, H]. */
  readonly lse: Tensor
  /** Residual stream after the attention write, [M, C]. */
  readonly middle: Tensor
  /** After post_attention_layernorm, [M, C]. */
  readonly ffn_in: Tensor
  readonly ffn_inv_rms: Tensor
  /** [M, 2F] */
  readonly gate_up: Tensor
  /** silu(gate) · up, [M, F]. */
  readonly activated: Tensor
}

/** Safe to round: they are factors of products, or enter a norm or a SwiGLU. qkv_rotated and lse
 * stay exact, because attention's backward takes the exponent of the difference of its scores and
 * lse; so do the residual stream and the norms' factors. */
export const HALVED = [
  'attn_in',
  'qkv',
  'context',
  'middle',
  'ffn_in',
  'gate_up',
  'activated',
] as const

/** What one block keeps in bfloat16. */
export type KeptHalves = Readonly<Record<(typeof HALVED)[number], Tensor>>

/** Gradients with respect to activations: reused by every layer. */
export interface BackwardScratch {
  /** Gradient of the residual stream, [M, C]. */
  readonly d_hidden: Tensor
  /** Of a norm's output, [M, C]. */
  readonly d_normed: Tensor
  /** Of what a translator makes of a layer that learns along, [M, C]; where there is one. */
  readonly d_translated?: Tensor | undefined
  readonly d_activated: Tensor
  readonly d_gate_up: Tensor
  readonly d_context: Tensor
  readonly d_qkv_rotated: Tensor
  readonly d_qkv: Tensor
  /** Per-token sums for q_norm and k_norm, [M, 2D]. */
  readonly d_qk_norm: Tensor
  /** Partial sums of a norm weight's gradient, [blocks, C]. */
  readonly norm_partials: Tensor
  /** Partial sums of the unembedding's gradient, [splits, V, C] or of its largest range; next to
   * nothing where it has none. */
  readonly head_partials: Tensor
}

/** The narrow side of an adapter's products, [M, 3r] each: reused by every product of every
 * block. */
export interface LowRankScratch {
  /** x · Aᵀ of the modules of a product. */
  readonly low: Tensor
  readonly d_low: Tensor
}

export interface Workspace {
  readonly rows: number
  /** Rows whose number decides on kernels; absent = `rows`. A pass over several micro-batches at
   * once takes the kernels of one, so each row has the same bits. */
  readonly kernelRows?: number | undefined
  /** T: prompt and response columns. */
  readonly width: number
  readonly response_length: number
  /** [rows, T] u32 each: a stream of M tokens, padded columns included or left out
   * (model/transformer/rows.ts). */
  readonly input_ids: Tensor
  readonly attention_mask: Tensor
  readonly position_ids: Tensor
  /** Where each row lies in the stream, u32 [rows + 1]. */
  readonly cu_seqlens: Tensor
  /** Residual stream after l blocks, l = 0…L, [M, C] each. Two alternating tensors unless every
   * layer is kept. */
  readonly hidden: readonly Tensor[]
  readonly layers: readonly LayerActivations[]
  /** Of each block but the last, which is the first to run backward (kept_halves.ts); absent where
   * activations are kept as they are. */
  readonly halves?: readonly KeptHalves[] | undefined
  /** Final norm of hidden[L] (or of another layer), [M, C]. */
  readonly normed: Tensor
  readonly normed_inv_rms: Tensor
  /** What a translator makes of a layer's states, [M, C]; undefined where none is read through. */
  readonly translated?: Tensor | undefined
  readonly response: ResponseTensors
  readonly backward: BackwardScratch | undefined
  /** What an adapter's passes need; undefined where the model has none. */
  readonly low_rank: LowRankScratch | undefined
  /** Parts of the head's weight gradient; 0 where it is not trained. */
  readonly headSplits: number
  /** All blocks share one set of activations; the backward computes them again (gradient
   * checkpointing). */
  readonly isRecomputed: boolean
}

/** Rows of a norm's weight gradient summed per workgroup. */
export const NORM_ROWS_PER_BLOCK = 64

interface WorkspaceSize {
  readonly rows: number
  readonly width: number
  readonly response_length: number
  /** Keep every layer's activations and make room for gradients. */
  readonly trains: boolean
  readonly headSplits?: number
  /** Keep the residual stream between blocks only, and compute a block's other activations again in
   * the backward: the memory of one block instead of L, for about a third more arithmetic (Chen et
   * al. 2016, arXiv 1604.06174). The same bits. */
  readonly enable_gradient_checkpointing?: boolean
  /** Room to read policies through a translator. */
  readonly hasLens?: boolean
}

/** Allocates the activations for `rows` rows of `width` columns. */
export function createWorkspace(
  alloc: Allocator,
  shape: ModelShape,
  {
    rows,
    width,
    response_length,
    trains,
    headSplits = 0,
    enable_gradient_checkpointing = false,
    hasLens = false,
  }: WorkspaceSize,
): Workspace {
  const M = rows * width
  const { hidden_size: C, num_hidden_layers: L } = shape
  const f32: AllocF32 = (label, ...dims) =>
    alloc.tensor(label, 'f32', dims, { kind: 'activations' })
  const ids = (label: string) => alloc.tensor(label, 'u32', [rows, width], { kind: 'activations' })
  const layer = (l: number) => createLayer(f32, shape, M, l)
  const keeps = trains && !enable_gradient_checkpointing
  const keepsHalves = keeps && shape.activations_dtype === 'bfloat16'
  const shared = keeps && !keepsHalves ? undefined : layer(0)
  const ofBlock = (l: number) =>
    shared && keepsHalves && l > 0
      ? { ...shared, ...createExact(f32, shape, M, l) }
      : (shared ?? layer(l))
  const pair = trains ? undefined : [f32('hidden.even', M, C), f32('hidden.odd', M, C)]
  return {
    rows,
    width,
    response_length,
    input_ids: ids('input_ids'),
    attention_mask: ids('attention_mask'),
    position_ids: ids('position_ids'),
    cu_seqlens: alloc.tensor('cu_seqlens', 'u32', [rows + 1], { kind: 'activations' }),
    hidden: Array.from({ length: L + 1 }, (_, l) => pair?.[l % 2] ?? f32(`hidden.${l}`, M, C)),
    layers: Array.from({ length: L }, (_, l) => ofBlock(l)),
    ...(shared &&
      keepsHalves && {
        halves: Array.from({ length: L - 1 }, (_, l) => createHalves(alloc, shared, l)),
      }),
    normed: f32('normed', M, C),
    normed_inv_rms: f32('normed_inv_rms', M),
    ...(hasLens && { translated: f32('translated', M, C) }),
    response: createResponse(alloc, shape, rows, response_length),
    backward: trains
      ? {
          ...createBackward(f32, shape, M, headSplits * gradientElements(alloc, shape)),
          ...(hasLens && { d_translated: f32('d_translated', M, C) }),
        }
      : undefined,
    low_rank: createLowRank(f32, shape, M),
    headSplits,
    isRecomputed: trains && enable_gradient_checkpointing,
  }
}

/** An f32 tensor of activations. */
type AllocF32 = (label: string, ...dims: number[]) => Tensor

/** What block `l` keeps of M tokens. */
function createLayer(f32: AllocF32, shape: ModelShape, M: number, l: number): LayerActivations {
  const { hidden_size: C, intermediate_size: F } = shape
  return {
    ...createExact(f32, shape, M, l),
    attn_in: f32(`attn_in.${l}`, M, C),
    qkv: f32(`qkv.${l}`, M, shape.qkvSize),
    context: f32(`context.${l}`, M, shape.attentionSize),
    middle: f32(`middle.${l}`, M, C),
    ffn_in: f32(`ffn_in.${l}`, M, C),
    gate_up: f32(`gate_up.${l}`, M, 2 * F),
    activated: f32(`activated.${l}`, M, F),
  }
}

/** What block `l` keeps in float32 whatever the others are kept in. */
const createExact = (f32: AllocF32, shape: ModelShape, M: number, l: number) => ({
  attn_inv_rms: f32(`attn_inv_rms.${l}`, M),
  qkv_rotated: f32(`qkv_rotated.${l}`, M, shape.qkvSize),
  lse: f32(`lse.${l}`, M, shape.num_attention_heads),
  ffn_inv_rms: f32(`ffn_inv_rms.${l}`, M),
})

/** Room for what block `l` keeps of the activations that all blocks compute in. */
function createHalves(alloc: Allocator, activations: LayerActivations, l: number): KeptHalves {
  const halves = HALVED.map((name) => {
    const options = { kind: 'activations' } as const
    return [name, alloc.tensor(`${name}.${l}`, 'bfloat16', activations[name].shape, options)]
  })
  return Object.fromEntries(halves) as KeptHalves
}

function createBackward(
  f32: AllocF32,
  shape: ModelShape,
  M: number,
  headPartials: number,
): BackwardScratch {
  const { hidden_size: C, intermediate_size: F } = shape
  return {
    d_hidden: f32('d_hidden', M, C),
    d_normed: f32('d_normed', M, C),
    d_activated: f32('d_activated', M, F),
    d_gate_up: f32('d_gate_up', M, 2 * F),
    d_context: f32('d_context', M, shape.attentionSize),
    d_qkv_rotated: f32('d_qkv_rotated', M, shape.qkvSize),
    d_qkv: f32('d_qkv', M, shape.qkvSize),
    d_qk_norm: f32('d_qk_norm', M, 2 * shape.head_dim),
    norm_partials: f32('norm_partials', Math.ceil(M / NORM_ROWS_PER_BLOCK), C),
    head_partials: f32('head_partials', Math.max(1, headPartials)),
  }
}

function createLowRank(f32: AllocF32, { lora }: ModelShape, M: number): LowRankScratch | undefined {
  if (!lora) return undefined
  return { low: f32('low', M, 3 * lora.r), d_low: f32('d_low', M, 3 * lora.r) }
}

/** A smaller workspace over the same memory: the first `rows` rows of every tensor. */
export function sliceWorkspace(alloc: Allocator, ws: Workspace, rows: number): Workspace {
  if (rows === ws.rows) return ws
  const tokens = rows * ws.width
  const blocks = Math.ceil(tokens / NORM_ROWS_PER_BLOCK)
  const seen = new Map<Tensor, Tensor>()
  const cut = (tensor: Tensor): Tensor => {
    const known = seen.get(tensor)
    if (known) return known
    const [first, ...rest] = tensor.shape
    const kept =
      tensor === ws.backward?.head_partials
        ? first
        : tensor === ws.backward?.norm_partials
          ? blocks
          : first === ws.rows
            ? rows
            : tokens
    const view = alloc.view(tensor, tensor.label, 0, [kept, ...rest])
    seen.set(tensor, view)
    return view
  }
  const cutAll = <T extends object>(group: T): T =>
    Object.fromEntries(Object.entries(group).map(([name, t]) => [name, t && cut(t as Tensor)])) as T
  return {
    ...ws,
    rows,
    input_ids: cut(ws.input_ids),
    attention_mask: cut(ws.attention_mask),
    position_ids: cut(ws.position_ids),
    cu_seqlens: alloc.view(ws.cu_seqlens, ws.cu_seqlens.label, 0, [rows + 1]),
    hidden: ws.hidden.map(cut),
    layers: ws.layers.map(cutAll),
    halves: ws.halves?.map(cutAll),
    normed: cut(ws.normed),
    normed_inv_rms: cut(ws.normed_inv_rms),
    translated: ws.translated && cut(ws.translated),
    response: cutAll(ws.response),
    backward: ws.backward && cutAll(ws.backward),
    low_rank: ws.low_rank && cutAll(ws.low_rank),
  }
}
