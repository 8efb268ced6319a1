// Records a rollout: the prompts at once, then one token of every row at a time.
import { SOON_COMPILED } from '../../kernels/matmul/matmul_variants.ts'
import { force_token } from '../../kernels/sampling/force_token.ts'
import { sampleToken } from '../../kernels/sampling/sampling.ts'
import { logitsInRanges } from '../transformer/head_ranges.ts'
import { headParams } from '../transformer/model.ts'
import { forward } from '../transformer/transformer.ts'
import { normedProducts } from './decode_products.ts'
import { decodedStates, decodeToken, promptStates } from './decode_token.ts'
import { cacheKernelsOf, type Recording } from './recording.ts'

/** All prompt columns at once: their keys and values into the caches, their last states are in
 * tensors.prefill. */
export function recordPrefill(recording: Recording): void {
  const { recorder, model, cache, tensors } = recording
  const { shape } = model
  const { prefill, caches } = tensors
  const N = cache.rows / cache.n
  const P = cache.prompt_length
  recorder.clear(tensors.ended)
  recorder.clear(tensors.decoded.log_probs)
  recorder.clear(tensors.decoded.entropy)
  const { write } = cacheKernelsOf(recording)
  // Block l's keys and values go to its cache while they are there. The workspace may be wider.
  forward(recorder, model, prefill, {
    layers: shape.num_hidden_layers,
    count: N * P,
    onHidden: (l) => {
      if (l === 0) return
      const size = { rows: N, columns: P, first_token: 0, stride: P, ...headParams(shape) }
      const qkv = prefill.layers[l - 1].qkv_rotated
      recorder.run(write, size, { qkv, cache: caches[l - 1] })
    },
  })
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

/** The states of the token before → response token t of every row. */
function sample(recording: Recording, t: number): void {
  const { recorder, model, cache, tensors, special, R } = recording
  const { shape, weights } = model
  const { logits, logits_part: part } = tensors.decode
  // The first tokens follow from the N prompts, later ones from the B rows.
  const n = t === 0 ? cache.n : 1
  const { run } = recorder
  const prompts = cache.rows / n
  const states = t === 0 ? promptStates(recording) : decodedStates(recording)
  const project = normedProducts(recording, states, prompts, shape.vocab_size)
  logitsInRanges(run, shape, { head: weights.lm_head, rows: prompts }, { logits, part }, project)
  recorder.run(
    sampleToken({ ...shape, compilesSoon: model.matmul?.['*'] === SOON_COMPILED }),
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
