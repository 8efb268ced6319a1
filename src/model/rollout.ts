// Batched generation with a KV cache: prefill, then one token per step for every row, sampled on the GPU.
import { attentionKernels, kv_cache_write } from '../kernels/attention/attention.ts'
import { embedding_forward } from '../kernels/embedding/embedding.ts'
import { ShapeError } from '../kernels/errors.ts'
import type { Gpu } from '../kernels/gpu.ts'
import type { Program, Recorder } from '../kernels/program.ts'
import { rms_norm_forward } from '../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_forward } from '../kernels/rope/rope.ts'
import { sampleToken } from '../kernels/sampling/sampling.ts'
import { swiglu_forward } from '../kernels/swiglu/swiglu.ts'
import type { Allocator, Tensor } from '../kernels/tensor.ts'
import type { ModelShape } from './config.ts'
import {
  finalNorm,
  forward,
  headParams,
  linear,
  type Model,
  projectQkv,
  ropeParams,
} from './transformer.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

/** Prompts of different lengths, padded on either side to one width. */
export interface PromptBatch {
  /** [B, P] */
  readonly input_ids: Uint32Array
  /** [B, P]: 1 = a real token; each row's real tokens are contiguous and at least one. */
  readonly attention_mask: Uint32Array
}

export interface RolloutSize {
  /** B */
  readonly rows: number
  /** P */
  readonly prompt_length: number
  /** R */
  readonly response_length: number
}

/** How one batch is sampled: all may change from call to call. */
export interface Sampling {
  /** 0 = greedy. */
  readonly temperature: number
  /** Keep the k most likely tokens; 0 or less = all. */
  readonly top_k: number
  /** Keep the smallest set of tokens with this probability; 1 = all. */
  readonly top_p: number
  readonly seed: number
  /** Separates uses of the generator that share a seed: training, validation. */
  readonly stream: number
  readonly step: number
  /** Added to the row number in the generator's counter, when a batch is sampled in parts. */
  readonly row_offset: number
}

/** The tokens that end a row (any of them; at most 16), and the one that fills it up. */
export interface SpecialTokens {
  readonly eos_token_ids: readonly number[]
  readonly pad_token_id: number
}

/** One token per row and the buffers of one decode step. */
interface DecodeTensors {
  readonly hidden: readonly [Tensor, Tensor]
  readonly normed: Tensor
  readonly inv_rms: Tensor
  readonly qkv: Tensor
  readonly qkv_rotated: Tensor
  readonly context: Tensor
  readonly middle: Tensor
  readonly gate_up: Tensor
  readonly activated: Tensor
  readonly logits: Tensor
}

/** Everything a rollout keeps on the GPU. */
export interface RolloutTensors {
  readonly prefill: Workspace
  /** Column mask of prompt and response, [B, P + R]; sampling extends it until a row has ended. */
  readonly attention_mask: Tensor<'u32'>
  /** Position of each response column, [R, B rounded up to 64]. */
  readonly positions: Tensor<'u32'>
  /** Row of prefill.normed that holds each prompt's last token, [B]. */
  readonly last_rows: Tensor<'u32'>
  /** SpecialTokens.eos_token_ids, in the first places of [16]. */
  readonly eos_token_ids: Tensor<'u32'>
  readonly ended: Tensor<'u32'>
  readonly next_ids: Tensor<'u32'>
  /** [B, R]; the pad token after a row's end token. */
  readonly response_ids: Tensor<'u32'>
  /** Log-prob of each sampled token under the sampling policy before top-k and top-p, [B, R]. */
  readonly log_probs: Tensor<'f32'>
  /** Entropy of that policy at each response token, [B, R], nats. */
  readonly entropy: Tensor<'f32'>
  /** Per block [B, P + R, 2 · K · D]. */
  readonly caches: readonly Tensor[]
  readonly decode: DecodeTensors
}

const ALIGN = 64
/** Room for end tokens, whatever the model: so that a rollout's memory follows from its size. Llama 3 has three. */
const MAX_EOS_TOKENS = 16

/** Allocates a rollout's buffers. */
export function createRolloutTensors(
  alloc: Allocator,
  shape: ModelShape,
  { rows: B, prompt_length: P, response_length: R }: RolloutSize,
): RolloutTensors {
  const { hidden_size: C, intermediate_size: F, vocab_size: V, qkv_size } = shape
  const f32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`decode.${label}`, 'f32', dims, { kind: 'activations' })
  const u32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`rollout.${label}`, 'u32', dims, { kind: 'batch' })
  const response = (label: string) =>
    alloc.tensor(`rollout.${label}`, 'f32', [B, R], { kind: 'batch' })
  const cache_size = 2 * shape.num_key_value_heads * shape.head_dim
  const size = { rows: B, width: P, response_length: 1, trains: false }
  return {
    prefill: createWorkspace(alloc, shape, size),
    attention_mask: u32('attention_mask', B, P + R),
    positions: u32('positions', R, Math.ceil(B / ALIGN) * ALIGN),
    last_rows: u32('last_rows', B),
    eos_token_ids: u32('eos_token_ids', MAX_EOS_TOKENS),
    ended: u32('ended', B),
    next_ids: u32('next_ids', B),
    response_ids: u32('response_ids', B, R),
    log_probs: response('log_probs'),
    entropy: response('entropy'),
    caches: Array.from({ length: shape.num_hidden_layers }, (_, l) =>
      alloc.tensor(`kv_cache.${l}`, 'f32', [B, P + R, cache_size], { kind: 'kv_cache' }),
    ),
    decode: {
      hidden: [f32('hidden.even', B, C), f32('hidden.odd', B, C)],
      normed: f32('normed', B, C),
      inv_rms: f32('inv_rms', B),
      qkv: f32('qkv', B, qkv_size),
      qkv_rotated: f32('qkv_rotated', B, qkv_size),
      context: f32('context', B, shape.attention_size),
      middle: f32('middle', B, C),
      gate_up: f32('gate_up', B, 2 * F),
      activated: f32('activated', B, F),
      logits: f32('logits', B, V),
    },
  }
}

const LIVE = ['temperature', 'top_k', 'top_p', 'seed', 'stream', 'step', 'row_offset'] as const
type RolloutLive = (typeof LIVE)[number]

/** A recorded rollout of fixed size: upload prompts, replay, read response_ids. */
export class Rollout {
  readonly size: RolloutSize
  readonly tensors: RolloutTensors
  #gpu: Gpu
  #program: Program<RolloutLive>

  private constructor(
    gpu: Gpu,
    size: RolloutSize,
    tensors: RolloutTensors,
    program: Program<RolloutLive>,
  ) {
    this.#gpu = gpu
    this.size = size
    this.tensors = tensors
    this.#program = program
  }

  /** Records prefill and all R decode steps as one program. Throws RangeError for more than 16 end tokens. */
  static async create(
    gpu: Gpu,
    model: Model,
    size: RolloutSize,
    tensors: RolloutTensors,
    special: SpecialTokens,
  ): Promise<Rollout> {
    const { eos_token_ids } = special
    if (eos_token_ids.length > MAX_EOS_TOKENS)
      throw new RangeError(
        `rollout: expected at most ${MAX_EOS_TOKENS} end tokens, got ${eos_token_ids.length}`,
      )
    gpu.write(tensors.eos_token_ids, Uint32Array.from(eos_token_ids))
    const program = await gpu.record('rollout', LIVE, (recorder) => {
      recordRollout(gpu, recorder, model, size, tensors, special)
    })
    return new Rollout(gpu, size, tensors, program)
  }

  /** Dispatches per call. */
  get dispatches(): number {
    return this.#program.dispatches
  }

  /** Uploads the prompts and encodes the rollout: response_ids, log_probs and entropy follow on the GPU. */
  generate(prompts: PromptBatch, sampling: Sampling): void {
    const { rows: B, prompt_length: P, response_length: R } = this.size
    const { prefill, attention_mask, positions, last_rows } = this.tensors
    if (prompts.input_ids.length !== B * P)
      throw new ShapeError(
        `rollout: expected ${B} × ${P} prompt ids, got ${prompts.input_ids.length}`,
      )
    const layout = layoutPrompts(prompts.attention_mask, B, P, R, positions.shape[1])
    const gpu = this.#gpu
    gpu.write(prefill.input_ids, prompts.input_ids)
    gpu.write(prefill.attention_mask, prompts.attention_mask)
    gpu.write(prefill.position_ids, layout.prompt_positions)
    gpu.write(attention_mask, layout.column_mask)
    gpu.write(positions, layout.response_positions)
    gpu.write(last_rows, layout.last_rows)
    gpu.replay(this.#program, { ...sampling, top_k: Math.max(0, sampling.top_k) })
  }
}

/** Positions clip(cumsum(mask) - 1, 0) as verl, the last real column of each row, and the mask over P + R columns. */
function layoutPrompts(mask: Uint32Array, B: number, P: number, R: number, stride: number) {
  const prompt_positions = new Uint32Array(B * P)
  const response_positions = new Uint32Array(R * stride)
  const last_rows = new Uint32Array(B)
  const column_mask = new Uint32Array(B * (P + R))
  for (let b = 0; b < B; b++) {
    let length = 0
    for (let p = 0; p < P; p++) {
      const real = mask[b * P + p]
      length += real
      prompt_positions[b * P + p] = Math.max(0, length - 1)
      column_mask[b * (P + R) + p] = real
      if (real) last_rows[b] = b * P + p
    }
    if (length === 0) throw new ShapeError(`rollout: prompt ${b} has no tokens`)
    for (let t = 0; t < R; t++) response_positions[t * stride + b] = length + t
  }
  return { prompt_positions, response_positions, last_rows, column_mask }
}

function recordRollout(
  gpu: Allocator,
  recorder: Recorder<RolloutLive>,
  model: Model,
  { rows: B, prompt_length: P, response_length: R }: RolloutSize,
  tensors: RolloutTensors,
  { eos_token_ids, pad_token_id }: SpecialTokens,
): void {
  const { run } = recorder
  const { shape, weights } = model
  const { prefill, decode, caches } = tensors
  const width = P + R
  const layers = shape.num_hidden_layers
  recorder.clear(tensors.ended)

  const sample = (t: number) => {
    linear(run, B, decode.normed, weights.lm_head, decode.logits)
    run(
      sampleToken(shape.vocab_size),
      {
        rows: B,
        row_offset: (live) => live.row_offset,
        vocab_size: shape.vocab_size,
        response_length: R,
        position: t,
        width,
        column: P + t,
        temperature: (live) => live.temperature,
        top_k: (live) => live.top_k,
        top_p: (live) => live.top_p,
        seed_low: (live) => live.seed,
        seed_high: (live) => live.stream,
        step: (live) => live.step,
        eos_count: eos_token_ids.length,
        pad_token_id,
      },
      {
        logits: decode.logits,
        eos_token_ids: tensors.eos_token_ids,
        ended: tensors.ended,
        response_ids: tensors.response_ids,
        rollout_log_probs: tensors.log_probs,
        rollout_entropy: tensors.entropy,
        next_ids: tensors.next_ids,
        attention_mask: tensors.attention_mask,
      },
    )
  }

  // Prefill: all prompt columns at once; block l's keys and values go to its cache while they are there.
  forward(recorder, model, prefill, layers, (l) => {
    if (l === 0) return
    const size = { rows: B, columns: P, first_column: 0, width, ...headParams(shape) }
    run(kv_cache_write, size, { qkv: prefill.layers[l - 1].qkv_rotated, cache: caches[l - 1] })
  })
  finalNorm(recorder, model, prefill, layers)
  // The embedding kernel gathers rows: here each prompt's last token from [B·P, C].
  const gather = { tokens: B, hidden_size: shape.hidden_size }
  const from = { input_ids: tensors.last_rows, weight: prefill.normed, out: decode.normed }
  run(embedding_forward, gather, from)
  sample(0)

  for (let t = 1; t < R; t++) {
    const stride = tensors.positions.shape[1]
    const position_ids = gpu.view(tensors.positions, `positions.${t}`, (t - 1) * stride, [B])
    decodeToken(run, model, tensors, B, width, P + t - 1, position_ids)
    sample(t)
  }
}

/** One token of every row through all blocks: next_ids at `column` → decode.normed, [B, C]. */
function decodeToken(
  run: Recorder<RolloutLive>['run'],
  { shape, weights, inv_freq }: Model,
  { decode, caches, next_ids, attention_mask }: RolloutTensors,
  B: number,
  width: number,
  column: number,
  position_ids: Tensor,
): void {
  const { hidden_size, intermediate_size, rms_norm_eps: eps } = shape
  const norm = { rows: B, cols: hidden_size, eps }
  const { normed, inv_rms, qkv, qkv_rotated, context, middle, gate_up, activated } = decode
  const embed = { tokens: B, hidden_size }
  run(embedding_forward, embed, {
    input_ids: next_ids,
    weight: weights.embed_tokens,
    out: decode.hidden[0],
  })
  weights.layers.forEach((w, l) => {
    const x = decode.hidden[l % 2]
    const cache = caches[l]
    run(rms_norm_forward, norm, { x, weight: w.input_layernorm, y: normed, inv_rms })
    projectQkv(run, shape, B, normed, w, qkv)
    const rope = { qkv, norm_weight: w.qk_norm, position_ids, inv_freq, out: qkv_rotated }
    run(qk_norm_rope_forward, ropeParams(shape, B), rope)
    const write = { rows: B, columns: 1, first_column: column, width, ...headParams(shape) }
    run(kv_cache_write, write, { qkv: qkv_rotated, cache })
    const attend = { rows: B, width, column, ...headParams(shape), scale: shape.head_dim ** -0.5 }
    run(attentionKernels(attend).decode, attend, {
      qkv: qkv_rotated,
      cache,
      attention_mask,
      out: context,
    })
    linear(run, B, context, w.o_proj, middle, x)
    run(rms_norm_forward, norm, {
      x: middle,
      weight: w.post_attention_layernorm,
      y: normed,
      inv_rms,
    })
    linear(run, B, normed, w.gate_up_proj, gate_up)
    run(swiglu_forward, { rows: B, intermediate_size }, { gate_up, out: activated })
    linear(run, B, activated, w.down_proj, decode.hidden[(l + 1) % 2], middle)
  })
  const last = decode.hidden[shape.num_hidden_layers % 2]
  run(rms_norm_forward, norm, { x: last, weight: weights.norm, y: normed, inv_rms })
}
