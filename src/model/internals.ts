// The inside of a model as kernel calls: each block's and each state's own policy, how they differ and where they point.
// Forward only; the workspace may share one set of activations between blocks. N = rows · columns probed positions.
import { row_cosine } from '../kernels/cosine/cosine.ts'
import { embedding_forward } from '../kernels/embedding/embedding.ts'
import type { Gpu } from '../kernels/gpu.ts'
import { policyKl } from '../kernels/policy_kl/policy_kl.ts'
import type { Recorder } from '../kernels/program.ts'
import { rms_norm_forward } from '../kernels/rms_norm/rms_norm.ts'
import type { Allocator, Tensor } from '../kernels/tensor.ts'
import type { ModelShape } from './config.ts'
import {
  DIFFERENCES,
  entriesOf,
  type Internals,
  isDifference,
  maskOf,
  nextMask,
  type Positions,
  type Quantity,
} from './internal_quantities.ts'
import { CHUNK } from './params.ts'
import { forward, linear, type Model, type Scored, scoredResponse, unembed } from './transformer.ts'
import type { Workspace } from './workspace.ts'

/** Where recordInternals writes and what it needs on the way. */
export interface InternalsTensors<Q extends Quantity = Quantity> {
  readonly quantities: readonly Q[]
  readonly positions: Positions
  readonly shape: ModelShape
  readonly ws: Workspace
  /** The probed positions, of states that hold nothing else. */
  readonly scored: Scored
  /** What to read back, for unpackInternals: the values, the mask, and logits where asked for. */
  readonly outputs: readonly Tensor[]
  /** [N] for every computed quantity and entry, all views of one tensor. */
  readonly slots: ReadonlyMap<Quantity, readonly Tensor[]>
  /** [N, V] each: one for logits, L+1 for logits_layer. */
  readonly logits: readonly Tensor[]
  readonly layer_logits: readonly Tensor[]
  /** Every H^l, [N, C], where pairs of them are compared. */
  readonly kept: readonly Tensor[]
  readonly scratch: Scratch
}

interface Scratch {
  /** Rows of the workspace's tensors that are probed, u32 [N]. */
  readonly index: Tensor
  /** [0, 1]: turns attention_mask into numbers. */
  readonly zero_one: Tensor
  /** The probed rows of one tensor, as [N, C], [N, H · D] and [N, F]: the same memory. */
  readonly gathered: { readonly hidden: Tensor; readonly context: Tensor; readonly ffn: Tensor }
  /** What a block adds to the residual stream, [N, C]. */
  readonly write: Tensor
  /** final_norm(H^l), [N, C]; of H^L in the end. */
  readonly normed: Tensor
  readonly inv_rms: Tensor
  /** [N] each: for outputs that nobody asked for. */
  readonly spare: readonly Tensor[]
}

/**
 * Allocates room for these quantities at all positions of a workspace's rows, or at those that predict its response.
 * Only what is asked for is computed: entropies cost one pass over the vocabulary per state, kl two.
 */
export function createInternals<const Q extends Quantity>(
  alloc: Allocator,
  shape: ModelShape,
  ws: Workspace,
  { quantities, positions }: { quantities: readonly Q[]; positions: Positions },
): InternalsTensors<Q> {
  const { hidden_size: C, intermediate_size: F, attention_size, vocab_size: V } = shape
  const states = shape.num_hidden_layers + 1
  const response = scoredResponse(ws)
  const [first_column, columns] =
    positions === 'all' ? [0, ws.width] : [response.first_column, ws.response_length]
  const N = ws.rows * columns
  const tensor = (label: string, ...dims: number[]) =>
    alloc.tensor(`internals.${label}`, 'f32', dims)
  const list = (count: number, label: string, ...dims: number[]) =>
    Array.from({ length: count }, (_, l) => tensor(`${label}.${l}`, ...dims))
  const wants = (...names: Quantity[]) => names.some((name) => quantities.includes(name as Q))

  const { slots, values } = createSlots(alloc, N, shape.num_hidden_layers, quantities)
  const own = () => ({
    response_ids: alloc.tensor('internals.next_ids', 'u32', [N]),
    response_mask: tensor('mask', N),
  })
  const scored = {
    ...{ rows: ws.rows, width: columns, first_column: 0, response_length: columns },
    ...(positions === 'all' ? own() : ws.response),
  }
  const logits = list(wants('logits') ? 1 : 0, 'logits', N, V)
  const layer_logits = list(wants('logits_layer') ? states : 0, 'logits_layer', N, V)
  const keeps = wants('cos_hidden', 'kl_layer_final', 'kl_final_layer')
  const gathered = tensor('gathered', N, Math.max(C, F, attention_size))
  const part = (name: string, cols: number) => alloc.view(gathered, name, 0, [N, cols])
  return {
    ...{ quantities, positions, shape, ws, scored, slots, logits, layer_logits },
    outputs: [values, scored.response_mask, ...logits, ...layer_logits],
    kept: list(keeps ? states : 0, 'hidden', N, C),
    scratch: {
      index: alloc.tensor('internals.index', 'u32', [N], {
        data: Uint32Array.from({ length: N }, (_, i) => {
          return Math.floor(i / columns) * ws.width + first_column + (i % columns)
        }),
      }),
      zero_one: alloc.tensor('internals.zero_one', 'f32', [2], { data: Float32Array.of(0, 1) }),
      gathered: {
        hidden: part('hidden', C),
        context: part('context', attention_size),
        ffn: part('ffn', F),
      },
      write: tensor('write', N, C),
      normed: tensor('normed', N, C),
      inv_rms: tensor('inv_rms', N),
      spare: list(4, 'spare', N),
    },
  }
}

/** One tensor for all values, and [N] of it for each entry of each quantity that is not a difference of others. */
function createSlots(
  alloc: Allocator,
  N: number,
  num_hidden_layers: number,
  quantities: readonly Quantity[],
): { slots: Map<Quantity, Tensor[]>; values: Tensor } {
  const computed = new Set<Quantity>(
    quantities.flatMap((q): readonly Quantity[] => (isDifference(q) ? DIFFERENCES[q] : [q])),
  )
  computed.delete('logits')
  computed.delete('logits_layer')
  const stride = slotStride(N)
  const counts = [...computed].map((q) => [q, entriesOf(q, num_hidden_layers)] as const)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const values = alloc.tensor('internals.values', 'f32', [total * stride])
  let next = 0
  const slots = new Map(
    counts.map(([q, count]) => [
      q,
      Array.from({ length: count }, (_, l) =>
        alloc.view(values, `internals.${q}.${l}`, next++ * stride, [N]),
      ),
    ]),
  )
  return { slots, values }
}

/** Elements between two slots: kernels bind whole chunks. */
const slotStride = (N: number) => Math.ceil(N / CHUNK) * CHUNK

/**
 * Runs the whole model on ws (input_ids, attention_mask, position_ids; for positions 'response' also ws.response's ids and
 * mask) and computes what createInternals was asked for. Numbers of a position do not depend on which others are probed.
 */
export function recordInternals<L extends string>(
  recorder: Pick<Recorder<L>, 'run' | 'copy'>,
  model: Model,
  t: InternalsTensors,
): void {
  const { run } = recorder
  const { ws, scored, scratch } = t
  if (t.positions === 'all') {
    // The next token of a row's last column is another row's first: nextMask leaves it out.
    const count = ws.rows * ws.width - 1
    if (count > 0) recorder.copy(ws.input_ids, scored.response_ids, { from_offset: 1, count })
    const { attention_mask: input_ids } = ws
    const size = { tokens: count + 1, hidden_size: 1 }
    run(embedding_forward, size, { input_ids, weight: scratch.zero_one, out: scored.response_mask })
  }
  const probe = new Probe(run, model, t)
  forward(recorder, model, ws, t.shape.num_hidden_layers, (l) => {
    if (l > 0) probe.block(l - 1)
    probe.state(l)
  })
  probe.end()
}

/** Records the calls of one probe. */
class Probe<L extends string> {
  readonly #run: Recorder<L>['run']
  readonly #model: Model
  readonly #t: InternalsTensors
  readonly #count: number

  constructor(run: Recorder<L>['run'], model: Model, t: InternalsTensors) {
    this.#run = run
    this.#model = model
    this.#t = t
    this.#count = t.scored.rows * t.scored.width
  }

  /** H^l, when it has just been computed. */
  state(l: number): void {
    const { shape, weights } = this.#model
    const { ws, kept, scratch, logits, layer_logits } = this.#t
    const x = this.#gather(ws.hidden[l], kept[l] ?? scratch.gathered.hidden)
    this.#policy(x, l, 'ent_layer_raw', 'logp_next_layer')
    if (layer_logits[l]) linear(this.#run, this.#count, x, weights.lm_head, layer_logits[l])
    if (this.#wants('norm_hidden')) this.#compare(x, x, l, undefined, 'norm_hidden')

    const isRead = this.#wants('ent_layer_norm', 'logp_next_layer_norm')
    if (!isRead && l < shape.num_hidden_layers) return
    const { normed: y, inv_rms } = scratch
    const norm = { rows: this.#count, cols: shape.hidden_size, eps: shape.rms_norm_eps }
    this.#run(rms_norm_forward, norm, { x, weight: weights.norm, y, inv_rms })
    this.#policy(y, l, 'ent_layer_norm', 'logp_next_layer_norm')
    if (logits[0] && l === shape.num_hidden_layers)
      linear(this.#run, this.#count, y, weights.lm_head, logits[0])
  }

  /** Block l (0 … L−1), whose activations and input are still there. */
  block(l: number): void {
    const { ws, scratch } = this.#t
    const { write, gathered } = scratch
    const a = ws.layers[l]
    const w = this.#model.weights.layers[l]
    if (this.#wants('ent_attn_in'))
      this.#policy(this.#gather(a.attn_in, gathered.hidden), l, 'ent_attn_in')
    if (this.#wants('ent_attn_out', 'cos_attn', 'norm_attn_out')) {
      const context = this.#gather(a.context, gathered.context)
      linear(this.#run, this.#count, context, w.o_proj, write)
      this.#policy(write, l, 'ent_attn_out')
      if (this.#wants('cos_attn', 'norm_attn_out')) {
        const stream = this.#gather(ws.hidden[l], gathered.hidden)
        this.#compare(write, stream, l, 'cos_attn', 'norm_attn_out')
      }
    }
    if (this.#wants('ent_ffn_in'))
      this.#policy(this.#gather(a.ffn_in, gathered.hidden), l, 'ent_ffn_in')
    if (this.#wants('ent_ffn_out', 'cos_ffn', 'norm_ffn_out')) {
      linear(this.#run, this.#count, this.#gather(a.activated, gathered.ffn), w.down_proj, write)
      this.#policy(write, l, 'ent_ffn_out')
      if (this.#wants('cos_ffn', 'norm_ffn_out')) {
        const stream = this.#gather(a.middle, gathered.hidden)
        this.#compare(write, stream, l, 'cos_ffn', 'norm_ffn_out')
      }
    }
  }

  /** What compares states with each other or with the last one. */
  end(): void {
    const { shape, weights } = this.#model
    const { kept, scratch, scored } = this.#t
    if (this.#wants('kl_layer_final', 'kl_final_layer'))
      kept.forEach((hidden, l) => {
        const { hidden_size, vocab_size } = shape
        const size = { tokens: this.#count, hidden_size, vocab_size }
        this.#run(policyKl(shape), size, {
          hidden_p: hidden,
          hidden_q: scratch.normed,
          weight: weights.lm_head,
          mask: scored.response_mask,
          kl_pq: this.#out('kl_layer_final', l, 0),
          kl_qp: this.#out('kl_final_layer', l, 1),
        })
      })
    if (this.#wants('cos_hidden'))
      kept.forEach((x, i) => {
        // The other half is the same: unpackInternals mirrors it.
        for (let j = i; j < kept.length; j++)
          this.#compare(x, kept[j], i * kept.length + j, 'cos_hidden')
      })
  }

  #wants(...names: readonly Quantity[]): boolean {
    return names.some((name) => this.#t.slots.has(name))
  }

  /** Where entry l of a quantity goes; a spare place if nobody asked for it. */
  #out(name: Quantity | undefined, l: number, spare: number): Tensor {
    return (name && this.#t.slots.get(name)?.[l]) ?? this.#t.scratch.spare[spare]
  }

  /** The probed rows of x [M, columns of `out`]: a lookup of rows by number, as of an embedding. */
  #gather(x: Tensor, out: Tensor): Tensor {
    const size = { tokens: this.#count, hidden_size: out.shape[1] }
    this.#run(embedding_forward, size, { input_ids: this.#t.scratch.index, weight: x, out })
    return out
  }

  /** Entropy and next token's log-probability of the policy of `states`, where one of them is wanted. */
  #policy(states: Tensor, l: number, entropy: Quantity, log_probs?: Quantity): void {
    if (!this.#wants(entropy) && !(log_probs && this.#wants(log_probs))) return
    const [, , lse, sum_pi_squared] = this.#t.scratch.spare
    unembed({ run: this.#run }, this.#model, states, this.#t.scored, 1, {
      entropy: this.#out(entropy, l, 0),
      log_probs: this.#out(log_probs, l, 1),
      lse,
      sum_pi_squared,
    })
  }

  /** cosine = cos(x, y), norm = ‖x‖. */
  #compare(x: Tensor, y: Tensor, l: number, cosine?: Quantity, norm?: Quantity): void {
    const size = { rows: this.#count, cols: this.#model.shape.hidden_size }
    this.#run(row_cosine, size, {
      x,
      y,
      cosine: this.#out(cosine, l, 0),
      norm_x: this.#out(norm, l, 1),
      norm_y: this.#t.scratch.spare[2],
    })
  }
}

/** Reads the quantities back, once what recordInternals recorded has been replayed. */
export async function readInternals<Q extends Quantity>(
  gpu: Pick<Gpu, 'read'>,
  t: InternalsTensors<Q>,
): Promise<Internals<Q>> {
  return unpackInternals(t, await gpu.read(...t.outputs))
}

/** `arrays`: t.outputs read back, in their order. For callers that read other tensors in the same go. */
export function unpackInternals<Q extends Quantity>(
  t: InternalsTensors<Q>,
  arrays: readonly Float32Array[],
): Internals<Q> {
  const { shape, scored, slots } = t
  const [flat, mask, ...vocabulary] = arrays
  const N = scored.rows * scored.width
  const next_mask = t.positions === 'all' ? nextMask(mask, scored.width) : mask
  const computed = new Map<Quantity, Float32Array>()
  let start = 0
  for (const [quantity, { length }] of slots) {
    const values = new Float32Array(length * N)
    for (let l = 0; l < length; l++, start += slotStride(N))
      values.set(flat.subarray(start, start + N), l * N)
    computed.set(quantity, quantity === 'cos_hidden' ? mirrored(values, N) : values)
  }
  const layer_logits = new Float32Array(t.layer_logits.length * N * shape.vocab_size)
  vocabulary.slice(t.logits.length).forEach((x, l) => {
    layer_logits.set(x, l * x.length)
  })
  const valuesOf = (quantity: Quantity): Float32Array => {
    if (quantity === 'logits') return vocabulary[0]
    if (quantity === 'logits_layer') return layer_logits
    if (!isDifference(quantity)) return computed.get(quantity) as Float32Array
    const [of, from] = DIFFERENCES[quantity].map((name) => computed.get(name) as Float32Array)
    return of === from ? of.subarray(N).map((x, i) => x - from[i]) : of.map((x, i) => x - from[i])
  }
  const result = {
    ...{ rows: scored.rows, columns: scored.width, num_hidden_layers: shape.num_hidden_layers },
    ...{ mask, next_mask },
  }
  const values = Object.fromEntries(
    t.quantities.map((quantity) => {
      const width = quantity === 'logits' || quantity === 'logits_layer' ? shape.vocab_size : 1
      return [quantity, masked(valuesOf(quantity), maskOf(result, quantity), width)]
    }),
  ) as Record<Q, Float32Array>
  return { ...result, values }
}

/** 0 where the position has no value; `width` numbers per position. */
const masked = (x: Float32Array, mask: Float32Array, width: number): Float32Array =>
  x.map((value, i) => (mask[Math.floor(i / width) % mask.length] ? value : 0))

/** [n, n, N] from its upper half. */
function mirrored(x: Float32Array, N: number): Float32Array {
  const n = Math.sqrt(x.length / N)
  for (let i = 0; i < n; i++)
    for (let j = 0; j < i; j++) x.copyWithin((i * n + j) * N, (j * n + i) * N, (j * n + i + 1) * N)
  return x
}
