// Records the inside of a model as kernel calls: each block's and each state's own policy, how they
// differ and where they point. Forward only; the workspace may share one set of activations between
// blocks. N probed positions.
import { row_cosine } from '../../kernels/cosine/cosine.ts'
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import { embedding_forward } from '../../kernels/embedding/embedding.ts'
import { policy_kl_finish, policyKl } from '../../kernels/policy_kl/policy_kl.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { logitsInRanges, roomFor } from '../transformer/head_ranges.ts'
import { exactly, type Model } from '../transformer/model.ts'
import { unembed } from '../transformer/policy.ts'
import { forward, linear } from '../transformer/transformer.ts'
import type { Quantity } from './internal_quantities.ts'
import type { InternalsTensors } from './internals_tensors.ts'

/** Runs the whole model on what uploadInternals has uploaded and computes what createInternals was
 * asked for. Numbers of a position do not depend on which others are probed. `count`: tokens that
 * pass, where they are fewer than the workspace holds. */
export function recordInternals<L extends string>(
  recorder: Pick<Recorder<L>, 'run'>,
  model: Model,
  t: InternalsTensors,
  count?: Value<L>,
): void {
  const { run } = recorder
  const { ws } = t
  const probe = new Probe(run, model, t)
  const onHidden = (l: number) => {
    if (l > 0) probe.block(l - 1)
    probe.state(l)
  }
  forward(recorder, model, ws, { layers: t.shape.num_hidden_layers, onHidden, count })
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
    this.#count = t.scored.tokens
  }

  /** H^l, when it has just been computed. */
  state(l: number): void {
    const { shape, weights } = this.#model
    const { ws, kept, scratch, logits, layer_logits } = this.#t
    const x = this.#gather(ws.hidden[l], kept[l] ?? scratch.gathered.hidden)
    this.#policy(x, l, 'ent_layer_raw', 'logp_next_layer')
    if (layer_logits[l]) this.#logits(x, layer_logits[l])
    if (this.#wants('norm_hidden')) this.#compare(x, x, l, undefined, 'norm_hidden')

    const isRead = !this.#t.isLastNormed && this.#wants('ent_layer_norm', 'logp_next_layer_norm')
    if (!isRead && l < shape.num_hidden_layers) return
    const { normed: y, inv_rms } = scratch
    const norm = { rows: this.#count, cols: shape.hidden_size, eps: shape.rms_norm_eps }
    this.#run(rms_norm_forward, norm, { x, weight: weights.norm, y, inv_rms })
    this.#policy(y, l, 'ent_layer_norm', 'logp_next_layer_norm')
    if (logits[0] && l === shape.num_hidden_layers) this.#logits(y, logits[0])
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
      this.#linear(context, w.o_proj, write)
      this.#policy(write, l, 'ent_attn_out')
      if (this.#wants('cos_attn', 'norm_attn_out')) {
        const stream = this.#gather(ws.hidden[l], gathered.hidden)
        this.#compare(write, stream, l, 'cos_attn', 'norm_attn_out')
      }
    }
    if (this.#wants('ent_ffn_in'))
      this.#policy(this.#gather(a.ffn_in, gathered.hidden), l, 'ent_ffn_in')
    if (this.#wants('ent_ffn_out', 'cos_ffn', 'norm_ffn_out')) {
      this.#linear(this.#gather(a.activated, gathered.ffn), w.down_proj, write)
      this.#policy(write, l, 'ent_ffn_out')
      if (this.#wants('cos_ffn', 'norm_ffn_out')) {
        const stream = this.#gather(a.middle, gathered.hidden)
        this.#compare(write, stream, l, 'cos_ffn', 'norm_ffn_out')
      }
    }
  }

  /** What compares states with each other or with the last one. */
  end(): void {
    const { kept, scratch } = this.#t
    if (this.#wants('kl_layer_final', 'kl_final_layer'))
      kept.forEach((hidden, l) => {
        const kl_pq = this.#out('kl_layer_final', l, 0)
        this.#diverge(hidden, scratch.normed, kl_pq, this.#out('kl_final_layer', l, 1))
      })
    const chosen = kept[this.#t.layer]
    if (this.#wants('kl_of_layer'))
      kept.forEach((hidden, l) => {
        this.#diverge(chosen, hidden, this.#out('kl_of_layer', l, 0), this.#out(undefined, l, 1))
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

  /** Where entry l of a quantity goes; a spare place if the caller did not ask for it. */
  #out(name: Quantity | undefined, l: number, spare: number): Tensor {
    return (name && this.#t.slots.get(name)?.[l]) ?? this.#t.scratch.spare[spare]
  }

  /** out = x · weightᵀ of the probed rows. */
  #linear(x: Tensor, weight: Tensor, out: Tensor): void {
    linear(this.#run, exactly(this.#count), { x, weight, out }, this.#model.matmul)
  }

  /** logits [N, V] of the probed rows. */
  #logits(x: Tensor, logits: Tensor): void {
    const { shape, weights } = this.#model
    const room = { logits, part: this.#t.scratch.logits_part }
    logitsInRanges(
      this.#run,
      shape,
      { head: weights.lm_head, rows: this.#count },
      room,
      (weight, out) => this.#linear(x, weight, out),
    )
  }

  /** The probed rows of x [M, columns of `out`]: a lookup of rows by number, as of an embedding. */
  #gather(x: Tensor, out: Tensor): Tensor {
    const hidden_size = out.shape[1]
    const size = { tokens: this.#count, hidden_size, first_id: 0, ids: x.shape[0] }
    this.#run(embedding_forward, size, { input_ids: this.#t.scratch.index, weight: x, out })
    return out
  }

  /** Entropy and next token's log-probability of the policy of `states`, where one of them is
   * wanted. */
  #policy(states: Tensor, l: number, entropy: Quantity, logProbs?: Quantity): void {
    if (!this.#wants(entropy) && !(logProbs && this.#wants(logProbs))) return
    const { running, spare } = this.#t.scratch
    const [, , lse, sum_pi_squared] = spare
    unembed(
      { run: this.#run },
      this.#model,
      { hidden: states, inv_temperature: 1 },
      this.#t.scored,
      {
        entropy: this.#out(entropy, l, 0),
        log_probs: this.#out(logProbs, l, 1),
        lse,
        sum_pi_squared,
        running,
      },
    )
  }

  /** kl_pq and kl_qp of the policies of two states, both as they are. */
  #diverge(hidden_p: Tensor, hidden_q: Tensor, kl_pq: Tensor, kl_qp: Tensor): void {
    const { shape, weights } = this.#model
    const { hidden_size } = shape
    const tokens = this.#count
    const [{ tensor: weight }, ...others] = weights.lm_head
    const kernel = policyKl(shape, weight.dtype)
    const states = { hidden_p, hidden_q, mask: this.#t.mask }
    const out = { kl_pq, kl_qp }
    if (others.length === 0) {
      const size = { tokens, hidden_size, vocab_size: shape.vocab_size }
      return this.#run(kernel.whole, size, { ...states, weight, ...out })
    }
    const running = roomFor(this.#t.scratch.running)
    for (const { first: first_id, tensor } of weights.lm_head) {
      const size = { tokens, hidden_size, vocab_size: tensor.shape[0], first_id }
      this.#run(kernel.range, size, { ...states, weight: tensor, running })
    }
    this.#run(policy_kl_finish, { tokens }, { mask: states.mask, running, ...out })
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
