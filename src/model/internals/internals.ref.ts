// Computes what a probe shows, in float64 and plain loops, from forwardRef's cache: the reference
// of model/internals/internals.ts.
import type { ModelConfig } from '../layout/config.ts'
import { logSoftmax, type RefArrays, rmsNorm } from '../transformer/operations.ref.ts'
import { logitsRef } from '../transformer/policy.ref.ts'
import type { RefCache } from '../transformer/transformer.ref.ts'
import { type Internals, nextMask, type Positions, type Quantity } from './internal_quantities.ts'

/** Which positions, and of which token each one's log-probability is (see Positions); and the k of
 * kl_of_layer. */
export interface RefPositions {
  readonly positions: Positions
  /** For 'response': [rows, response_length]. */
  readonly response_ids?: ArrayLike<number>
  readonly response_mask?: ArrayLike<number>
  readonly response_length?: number
  /** Default 0. */
  readonly layer?: number
}

/** A probed position: its place in the result, its row in the states, the token after it. */
interface Position {
  readonly i: number
  readonly m: number
  readonly next: number
}

/** Every quantity of QUANTITIES. `cache` holds all L blocks. Formulas: BuPO, arXiv 2512.19673, eqs.
 * 5 to 8, 11 to 13, B.5. */
export function internalsRef(
  config: ModelConfig,
  params: RefArrays,
  cache: RefCache,
  options: RefPositions = { positions: 'all' },
): Internals<Quantity, Float64Array> {
  const L = config.num_hidden_layers
  const { hidden_states, blocks } = cache
  const probed = placesOf(cache, options)
  const { rows, columns, mask, nextMask } = probed
  const N = rows * columns
  const { row, policy, each, entropies, log_probs, logitsOf } = readersOf(config, params, probed)

  const normed = hidden_states.map((x) =>
    rmsNorm(x, params['model.norm.weight'], config.rms_norm_eps),
  )
  const final = normed[L]
  const of = (name: 'attn_in' | 'attn_out' | 'ffn_in' | 'ffn_out') => blocks.map((b) => b[name])
  const ent_layer_raw = entropies(hidden_states)
  const [ent_attn_in, ent_attn_out] = [entropies(of('attn_in')), entropies(of('attn_out'))]
  const [ent_ffn_in, ent_ffn_out] = [entropies(of('ffn_in')), entropies(of('ffn_out'))]
  const lengths = (states: readonly Float64Array[]) =>
    each(states, (x, { m }) => Math.sqrt(dot(row(x, m), row(x, m))))
  const pairs = hidden_states.flatMap((x) => hidden_states.map((y) => [x, y] as const))
  return {
    rows,
    columns,
    num_hidden_layers: L,
    mask,
    nextMask,
    values: {
      ent_layer_raw,
      ent_attn_in,
      ent_attn_out,
      ent_ffn_in,
      ent_ffn_out,
      ent_layer_norm: entropies(normed),
      logp_next_layer: log_probs(hidden_states),
      logp_next_layer_norm: log_probs(normed),
      dH_layer: minus(ent_layer_raw.subarray(N), ent_layer_raw),
      dH_attn: minus(ent_attn_out, ent_attn_in),
      dH_ffn: minus(ent_ffn_out, ent_ffn_in),
      cos_attn: each(blocks, (b, { m }, l) => cosine(row(b.attn_out, m), row(hidden_states[l], m))),
      cos_ffn: each(blocks, (b, { m }) => cosine(row(b.ffn_out, m), row(b.middle, m))),
      norm_hidden: lengths(hidden_states),
      norm_attn_out: lengths(of('attn_out')),
      norm_ffn_out: lengths(of('ffn_out')),
      kl_layer_final: each(hidden_states, (x, { m }) => divergence(policy(x, m), policy(final, m))),
      kl_final_layer: each(hidden_states, (x, { m }) => divergence(policy(final, m), policy(x, m))),
      kl_of_layer: each(hidden_states, (x, { m }) =>
        divergence(policy(hidden_states[options.layer ?? 0], m), policy(x, m)),
      ),
      cos_hidden: each(pairs, ([x, y], { m }) => cosine(row(x, m), row(y, m))),
      logits: logitsOf([final]),
      logits_layer: logitsOf(hidden_states),
    },
  }
}

/** How numbers are read from states [rows · width, C] at the probed places. */
function readersOf(
  config: ModelConfig,
  params: RefArrays,
  { rows, columns, nextMask, places }: ReturnType<typeof placesOf>,
) {
  const { hidden_size: C, vocab_size: V } = config
  const N = rows * columns
  const row = (x: Float64Array, m: number) => x.subarray(m * C, (m + 1) * C)
  const logits = (x: Float64Array, m: number) => logitsRef(config, params, row(x, m))
  const known = new Map<Float64Array, Map<number, Float64Array>>()
  /** Log-probabilities of row m of some states, kept because many quantities need them. */
  const policy = (states: Float64Array, m: number): Float64Array => {
    const ofStates = known.get(states) ?? new Map<number, Float64Array>()
    known.set(states, ofStates)
    const logP = ofStates.get(m) ?? logSoftmax(logits(states, m))
    ofStates.set(m, logP)
    return logP
  }
  /** [states.length, N]: a number per state and position. */
  const each = <T>(
    states: readonly T[],
    value: (state: T, place: Position, l: number) => number,
  ) => {
    const out = new Float64Array(states.length * N)
    states.forEach((state, l) => {
      for (const place of places) out[l * N + place.i] = value(state, place, l)
    })
    return out
  }
  const entropies = (states: readonly Float64Array[]) =>
    each(states, (x, { m }) => entropyOf(policy(x, m)))
  const log_probs = (states: readonly Float64Array[]) =>
    each(states, (x, { i, m, next }) => (nextMask[i] ? policy(x, m)[next] : 0))
  /** [states.length, N, V] */
  const logitsOf = (states: readonly Float64Array[]) => {
    const out = new Float64Array(states.length * N * V)
    states.forEach((x, l) => {
      for (const { i, m } of places) out.set(logits(x, m), (l * N + i) * V)
    })
    return out
  }
  return { row, policy, each, entropies, log_probs, logitsOf }
}

function placesOf({ batch }: RefCache, options: RefPositions) {
  const { rows, width } = batch
  const isResponse = options.positions === 'response'
  const columns = isResponse ? (options.response_length ?? 0) : width
  const firstColumn = isResponse ? width - columns - 1 : 0
  const mask = Float64Array.from(
    (isResponse ? options.response_mask : batch.attention_mask) ?? [],
    (x) => (x ? 1 : 0),
  )
  const next = isResponse ? mask : nextMask(mask, columns)
  const places = Array.from({ length: rows * columns }, (_, i): Position => {
    const m = Math.floor(i / columns) * width + firstColumn + (i % columns)
    return { i, m, next: (isResponse ? options.response_ids?.[i] : batch.input_ids[m + 1]) ?? 0 }
  }).filter(({ i }) => mask[i])
  return { rows, columns, mask, nextMask: next, places }
}

/** −Σ p log p of log-probabilities. */
const entropyOf = (logP: Float64Array): number =>
  -logP.reduce((sum, lp) => sum + Math.exp(lp) * lp, 0)

/** KL(p ‖ q) = Σ p (log p − log q). */
const divergence = (logP: Float64Array, logQ: Float64Array): number =>
  logP.reduce((sum, lp, v) => sum + Math.exp(lp) * (lp - logQ[v]), 0)

const dot = (x: Float64Array, y: Float64Array): number =>
  x.reduce((sum, value, c) => sum + value * y[c], 0)

/** x · y / (‖x‖ ‖y‖); 0 where one is zero. */
function cosine(x: Float64Array, y: Float64Array): number {
  const lengths = Math.sqrt(dot(x, x) * dot(y, y))
  return lengths === 0 ? 0 : dot(x, y) / lengths
}

const minus = (x: Float64Array, y: Float64Array) => x.map((value, i) => value - y[i])
