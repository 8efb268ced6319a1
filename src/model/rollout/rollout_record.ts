// What a rollout records: the prompts at once, then one token of every row at a time.
import type { CacheSize } from '../../kernels/attention/attention.ts'
import { cacheDType, cacheKernels } from '../../kernels/attention/attention_cache.ts'
import { decode_swiglu } from '../../kernels/decode/decode.ts'
import { decodeLinearKernel } from '../../kernels/decode/decode_variants.ts'
import type { Recorder } from '../../kernels/device/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/tensor.ts'
import { embedding_forward } from '../../kernels/embedding/embedding.ts'
import { forWeight } from '../../kernels/matmul/bfloat16.ts'
import { matmul_nt, matmul_nt_add } from '../../kernels/matmul/matmul.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { qk_norm_rope_forward } from '../../kernels/rope/rope.ts'
import { force_token } from '../../kernels/sampling/force_token.ts'
import { sampleToken } from '../../kernels/sampling/sampling.ts'
import { swiglu_forward } from '../../kernels/swiglu/swiglu.ts'
import type { ProductName } from '../adapter/adapter_layout.ts'
import { logitsInRanges } from '../transformer/head_ranges.ts'
import { addNarrowed } from '../transformer/low_rank.ts'
import { exactly, headParams, type Model, ropeParams } from '../transformer/model.ts'
import { embed, forward, linear } from '../transformer/transformer.ts'
import type { RolloutLive, SpecialTokens } from './rollout_inputs.ts'
import { isFused, type RolloutTensors } from './rollout_tensors.ts'

/** What the parts of a rollout are recorded with. */
export interface Recording {
  readonly gpu: Allocator
  readonly recorder: Recorder<RolloutLive>
  readonly model: Model
  readonly cache: CacheSize
  readonly tensors: RolloutTensors
  readonly special: SpecialTokens
  /** Decoded columns. */
  readonly R: number
}

/** All prompt columns at once: their keys and values into the caches, their last states normed into decode.normed, [N, C]. */
export function recordPrefill(recording: Recording): void {
  const { recorder, model, cache, tensors } = recording
  const { shape, weights } = model
  const { prefill, decode, caches } = tensors
  const { hidden_size, num_hidden_layers: layers, rms_norm_eps: eps } = shape
  const N = cache.rows / cache.n
  const P = cache.prompt_length
  recorder.clear(tensors.ended)
  recorder.clear(tensors.decoded.log_probs)
  recorder.clear(tensors.decoded.entropy)
  const { write } = kernelsOf(recording)
  // Block l's keys and values go to its cache while they are there.
  forward(recorder, model, prefill, layers, (l) => {
    if (l === 0) return
    const size = { rows: N, columns: P, first_token: 0, stride: P, ...headParams(shape) }
    const qkv = prefill.layers[l - 1].qkv_rotated
    recorder.run(write, size, { qkv, cache: caches[l - 1] })
  })
  // The embedding kernel gathers rows: here each prompt's last token from [N·P, C].
  const [x] = decode.hidden
  const from = { input_ids: tensors.last_rows, weight: prefill.hidden[layers], out: x }
  recorder.run(embedding_forward, { tokens: N, hidden_size, first_id: 0, ids: N * P }, from)
  const { normed: y, inv_rms } = decode
  const norm = { rows: N, cols: hidden_size, eps }
  recorder.run(rms_norm_forward, norm, { x, weight: weights.norm, y, inv_rms })
}

/** The kernels of this rollout's caches. */
function kernelsOf({ model: { shape }, cache, tensors, R }: Recording) {
  const size = { width: cache.prompt_length + R, head_dim: shape.head_dim }
  return cacheKernels(size, cacheDType(tensors.caches[0]))
}

/** Response tokens `first` up to `end`: each is sampled from the state of the one before it. */
export function recordTokens(recording: Recording, first: number, end: number): void {
  for (let t = first; t < end; t++) {
    if (t > 0) decodeToken(recording, t - 1)
    sample(recording, t)
    force(recording, t)
  }
}

/** What is forced in the place of response token t. */
function force({ recorder, cache, tensors, R }: Recording, t: number): void {
  const { forced } = tensors
  if (!forced) return
  const P = cache.prompt_length
  const at = { response_length: R, position: t, width: P + R, column: P + t }
  recorder.run(
    force_token,
    { rows: cache.rows, ...at },
    {
      forced,
      ended: tensors.ended,
      response_ids: tensors.decoded.response_ids,
      rollout_log_probs: tensors.decoded.log_probs,
      rollout_entropy: tensors.decoded.entropy,
      next_ids: tensors.next_ids,
      attention_mask: tensors.attention_mask,
    },
  )
}

/** out = x · weightᵀ (+ addend: a residual [B, n], or a bias [n]) for the rows that have not ended. */
function decodeLinear(
  { recorder: { run }, model, cache: { rows }, tensors: { ended } }: Recording,
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
    run(forWeight(decodeLinearKernel(model.matmul, size), weight), params, tensors)
  } else if (addend)
    run(
      forWeight(matmul_nt_add, weight),
      { ...size, addend_stride },
      { a: x, b: weight, addend, out },
    )
  else run(forWeight(matmul_nt, weight), { ...size, accumulate: 0 }, { a: x, b: weight, out })
}

/** Adds to y what an adapter, if there is one, makes of x. */
function decodeAdapter(
  recording: Recording,
  l: number,
  product: ProductName,
  x: Tensor,
  y: Tensor,
): void {
  const { recorder, model, cache, tensors } = recording
  const { low } = tensors.decode
  addNarrowed(recorder.run, model, exactly(cache.rows), l, product, { low, y }, (weight, out) =>
    decodeLinear(recording, x, weight, out),
  )
}

/** activated = silu(gate) · up with gate and up of normed, for the rows that have not ended. */
function decodeSwiglu(recording: Recording, l: number): void {
  const { recorder, model, cache, tensors } = recording
  const { normed: a, gate_up, activated: out } = tensors.decode
  const { hidden_size: k, intermediate_size } = model.shape
  const { gate_up_proj } = model.weights.layers[l]
  if (gate_up) {
    decodeLinear(recording, a, gate_up_proj, gate_up)
    decodeAdapter(recording, l, 'gate_up_proj', a, gate_up)
    recorder.run(swiglu_forward, { rows: cache.rows, intermediate_size }, { gate_up, out })
  } else {
    const size = { m: cache.rows, n: intermediate_size, k }
    recorder.run(forWeight(decode_swiglu, gate_up_proj), size, {
      a,
      b: gate_up_proj,
      ended: tensors.ended,
      out,
    })
  }
}

/** decode.normed → response token t of every row. */
function sample(recording: Recording, t: number): void {
  const { recorder, model, cache, tensors, special, R } = recording
  const { shape, weights, matmul } = model
  const { normed, logits, logits_part: part } = tensors.decode
  // The first tokens follow from the N prompts, later ones from the B rows.
  const n = t === 0 ? cache.n : 1
  const { run } = recorder
  const prompts = cache.rows / n
  logitsInRanges(run, shape, weights.lm_head, prompts, { logits, part }, (weight, out) => {
    if (t > 0) decodeLinear(recording, normed, weight, out)
    else linear(run, exactly(prompts), normed, weight, out, undefined, matmul)
  })
  recorder.run(
    sampleToken(shape.vocab_size),
    {
      rows: cache.rows,
      n,
      row_offset: (live) => live.row_offset,
      vocab_size: shape.vocab_size,
      response_length: R,
      position: t,
      width: cache.prompt_length + R,
      column: cache.prompt_length + t,
      temperature: (live) => live.temperature,
      top_k: (live) => live.top_k,
      top_p: (live) => live.top_p,
      seed_low: (live) => live.seed,
      seed_high: (live) => live.stream,
      step: (live) => live.step,
      eos_count: special.eos_token_ids.length,
      pad_token_id: special.pad_token_id,
    },
    {
      logits,
      eos_token_ids: tensors.eos_token_ids,
      ended: tensors.ended,
      response_ids: tensors.decoded.response_ids,
      rollout_log_probs: tensors.decoded.log_probs,
      rollout_entropy: tensors.decoded.entropy,
      next_ids: tensors.next_ids,
      attention_mask: tensors.attention_mask,
    },
  )
}

/** Response token t of every row, next_ids, through all blocks → decode.normed, [B, C]. */
function decodeToken(recording: Recording, t: number): void {
  const { recorder, model, cache, tensors } = recording
  const { run } = recorder
  const { shape, weights } = model
  const { decode, next_ids } = tensors
  const { rows: B } = cache
  const { hidden_size, rms_norm_eps: eps } = shape
  const norm = { rows: B, cols: hidden_size, eps }
  const { normed, inv_rms, qkv, context, middle, activated } = decode
  embed(run, weights.embed_tokens, B, next_ids, decode.hidden[0])
  weights.layers.forEach((w, l) => {
    const x = decode.hidden[l % 2]
    run(rms_norm_forward, norm, { x, weight: w.input_layernorm, y: normed, inv_rms })
    decodeLinear(recording, normed, w.qkv_proj, qkv, shape.has_qkv_bias ? w.qkv_bias : undefined)
    decodeAdapter(recording, l, 'qkv_proj', normed, qkv)
    attendToken(recording, t, l)
    decodeLinear(recording, context, w.o_proj, middle, x)
    decodeAdapter(recording, l, 'o_proj', context, middle)
    const ffn_norm = w.post_attention_layernorm
    run(rms_norm_forward, norm, { x: middle, weight: ffn_norm, y: normed, inv_rms })
    decodeSwiglu(recording, l)
    const out = decode.hidden[(l + 1) % 2]
    decodeLinear(recording, activated, w.down_proj, out, middle)
    decodeAdapter(recording, l, 'down_proj', activated, out)
  })
  const last = decode.hidden[shape.num_hidden_layers % 2]
  run(rms_norm_forward, norm, { x: last, weight: weights.norm, y: normed, inv_rms })
}

/** decode.qkv of response token t through block l's attention: its keys and values into the cache, → decode.context. */
function attendToken(recording: Recording, t: number, l: number): void {
  const { gpu, recorder, model, cache: size, tensors, R } = recording
  const { shape, weights, inv_freq } = model
  const { decode, positions, attention_mask } = tensors
  const { rows, n, prompt_length: P, response_columns: stride } = size
  const heads = headParams(shape)
  const attend = { ...size, width: P + R, column: P + t, ...heads, scale: shape.head_dim ** -0.5 }
  const position_ids = gpu.view(positions, `positions.${t}`, t * positions.shape[1], [rows])
  const { qkv, qkv_rotated, context: out } = decode
  const cache = tensors.caches[l]
  const turn = { norm_weight: weights.layers[l].qk_norm, position_ids, inv_freq }
  const rope = ropeParams(shape, rows)
  const { step, write, decode: attention_decode } = kernelsOf(recording)
  if (!qkv_rotated) {
    if (!step) throw new Error('rollout: these tensors are of another model')
    const { has_qk_norm, eps } = rope
    const params = { ...attend, has_qk_norm, eps }
    recorder.run(step, params, { qkv, ...turn, attention_mask, cache, out })
    return
  }
  recorder.run(qk_norm_rope_forward, rope, { qkv, ...turn, out: qkv_rotated })
  const own = { rows, columns: 1, first_token: (rows / n) * P + t, stride, ...heads }
  recorder.run(write, own, { qkv: qkv_rotated, cache })
  recorder.run(attention_decode, attend, { qkv: qkv_rotated, cache, attention_mask, out })
}
