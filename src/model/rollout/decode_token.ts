// Takes one token of every row through all blocks: what the next one is sampled from.
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { qk_norm_rope_forward } from '../../kernels/rope/rope.ts'
import type { Where } from '../interventions/intervention.ts'
import { type ChangedState, intervene } from '../interventions/intervention_tensors.ts'
import { addVector } from '../transformer/low_rank.ts'
import { headParams, ropeParams } from '../transformer/model.ts'
import { embed } from '../transformer/transformer.ts'
import {
  decodeAdapter,
  decodeLinear,
  decodeSwiglu,
  normedProducts,
  type States,
} from './decode_products.ts'
import { cacheKernelsOf, type Recording } from './recording.ts'
import { recordWholeToken } from './whole_token.ts'

/** What the first tokens are sampled from: each prompt's last state. */
export function promptStates({ model, tensors }: Recording): States {
  const { weights, shape } = model
  const last = { first: 0, tensor: tensors.prefill.hidden[shape.num_hidden_layers] }
  const gathered = { from: [last], ids: tensors.last_rows }
  return { x: tensors.decode.hidden[0], norm_weight: weights.norm, gathered, of: 'prompts' }
}

/** What later tokens are sampled from: the states that decodeToken left. */
export function decodedStates({ model, tensors }: Recording): States {
  const { weights, shape } = model
  const x = tensors.decode.hidden[shape.num_hidden_layers % 2]
  return { x, norm_weight: weights.norm, of: 'tokens' }
}

/** Response token t of every row, next_ids, through all blocks. */
export function decodeToken(recording: Recording, t: number): void {
  if (recordWholeToken(recording, t)) return
  const { model, cache, tensors } = recording
  const { shape, weights } = model
  const { hidden, normed, qkv, context, middle, activated } = tensors.decode
  const embedding = { from: weights.embed_tokens, ids: tensors.next_ids }
  const change = changesOf(recording, t)
  const steer = (layer: number, state: Tensor) =>
    addVector(recording.recorder.run, model, layer, cache.rows, state)
  const changesEmbedding = model.interventions ?? model.adapter?.vectors[0]
  if (changesEmbedding) {
    embed(recording.recorder.run, embedding.from, recording.cache.rows, embedding.ids, hidden[0])
    steer(0, hidden[0])
    change('residual', 0, { state: hidden[0] })
  }
  weights.layers.forEach((w, l) => {
    const x = hidden[l % 2]
    const states: States = {
      x,
      norm_weight: w.input_layernorm,
      of: 'tokens',
      ...(l === 0 && !changesEmbedding && { gathered: embedding }),
    }
    const project = normedProducts(recording, states, cache.rows, shape.qkvSize)
    project(w.qkv_proj, qkv, shape.hasQkvBias ? w.qkv_bias : undefined)
    decodeAdapter(recording, l, 'qkv_proj', normed, qkv)
    attendToken(recording, t, l)
    change('head', l + 1, { state: context })
    decodeLinear(recording, context, w.o_proj, middle, x)
    decodeAdapter(recording, l, 'o_proj', context, middle)
    change('attention', l + 1, { state: middle, base_a: x })
    decodeSwiglu(recording, l, middle)
    const out = hidden[(l + 1) % 2]
    decodeLinear(recording, activated, w.down_proj, out, middle)
    decodeAdapter(recording, l, 'down_proj', activated, out)
    steer(l + 1, out)
    change('residual', l + 1, { state: out, base_a: middle, base_b: x })
  })
}

/** Records the changes of response token t, where the model has any. */
function changesOf({ recorder, model, cache, R }: Recording, t: number) {
  const { interventions } = model
  const tokens = {
    rows: cache.rows,
    width: cache.prompt_length + R,
    column: cache.prompt_length + t,
  }
  return (where: Where, layer: number, changed: ChangedState) => {
    if (interventions) intervene(recorder.run, interventions, { where, layer }, tokens, changed)
  }
}

/** decode.qkv of response token t through block l's attention: its keys and values into the cache,
 * → decode.context. */
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
  const { step, write, decode: attentionDecode } = cacheKernelsOf(recording)
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
  recorder.run(attentionDecode, attend, { qkv: qkv_rotated, cache, attention_mask, out })
}
