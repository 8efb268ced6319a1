// Records the logit lens on whole texts: what every layer's policy would say next at every
// position, with the final norm and without. One text at a time in T columns, layer by layer; S of
// them are the text's. L blocks, V vocabulary, K = TOP_K. Of a text that is longer than what is
// shown, a window of positions is read (lens_window.ts); W of them, else W = T.

import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { rms_norm_forward } from '../../kernels/rms_norm/rms_norm.ts'
import { TOP_K } from '../../kernels/top_k/top_k.ts'
import { listScored, SCORED_COLUMNS } from '../../kernels/vocab_head/scored.ts'
import type { ModelShape } from '../layout/config.ts'
import { CHUNK } from '../layout/flat_params.ts'
import { createRunning } from '../transformer/head_ranges.ts'
import type { Model } from '../transformer/model.ts'
import { unembed } from '../transformer/policy.ts'
import { forward } from '../transformer/transformer.ts'
import { createWorkspace, type Workspace } from '../transformer/workspace.ts'
import { createTopScratch, type TopScratch, topTokens } from './top_tokens.ts'

/** What is read back of one state under one read-out: views of `values` and `ids`. */
interface ReadoutTensors {
  /** [W] each. */
  readonly entropy: Tensor
  readonly log_probs: Tensor
  /** [W, K] */
  readonly probs: Tensor
  readonly ids: Tensor
}

export interface LensTensors {
  readonly shape: ModelShape
  /** One row of T columns. */
  readonly ws: Workspace
  /** Rows of the workspace that are read, u32 [W]; undefined where all are. */
  readonly index: Tensor<'u32'> | undefined
  /** u32 [texts, 7 T]: ids, mask, positions and list of scored tokens of every text. */
  readonly inputs: Tensor<'u32'>
  readonly scored: Tensor<'u32'>
  /** [L+1] each, of the text in the workspace. */
  readonly raw: readonly ReadoutTensors[]
  readonly normed: readonly ReadoutTensors[]
  readonly values: Tensor<'f32'>
  readonly ids: Tensor<'u32'>
  /** values and ids of every text, to be read back. */
  readonly outputs: readonly [Tensor<'f32'>, Tensor<'u32'>]
  readonly scratch: {
    /** The only array with a column for each token, whatever the layer. */
    readonly top: TopScratch
    readonly running: Tensor | undefined
    /** The rows of one state that are read, [W, C]. */
    readonly gathered: Tensor | undefined
    readonly normed: Tensor
    readonly inv_rms: Tensor
    readonly lse: Tensor
    readonly sum_pi_squared: Tensor
  }
}

const wholeChunks = (count: number) => Math.ceil(count / CHUNK) * CHUNK
const INPUT_COLUMNS = 3 + SCORED_COLUMNS

interface LensSize {
  readonly texts: number
  /** Positions that are read of a text. */
  readonly width: number
  /** Where longer texts are read: the lens is a window of `width` of its columns. */
  readonly ws?: Workspace
}

/** Allocates a lens for a number of texts of at most `width` tokens, or for a window of longer
 * ones. */
export function createLens(
  alloc: Allocator,
  shape: ModelShape,
  { texts, width: W, ws }: LensSize,
): LensTensors {
  const readouts = 2 * (shape.num_hidden_layers + 1)
  const f32 = (label: string, ...dims: number[]) => alloc.tensor(`lens.${label}`, 'f32', dims)
  const u32 = (label: string, ...dims: number[]) => alloc.tensor(`lens.${label}`, 'u32', dims)
  const [perToken, perTop] = [wholeChunks(W), wholeChunks(W * TOP_K)]
  const stride = 2 * perToken + perTop
  const values = f32('values', readouts * stride)
  const ids = u32('ids', readouts * perTop)
  const readout = (r: number): ReadoutTensors => ({
    entropy: alloc.view(values, 'lens.entropy', r * stride, [W]),
    log_probs: alloc.view(values, 'lens.log_probs', r * stride + perToken, [W]),
    probs: alloc.view(values, 'lens.probs', r * stride + 2 * perToken, [W, TOP_K]),
    ids: alloc.view(ids, 'lens.top', r * perTop, [W, TOP_K]),
  })
  const all = Array.from({ length: readouts }, (_, r) => readout(r))
  const size = { rows: 1, width: W, response_length: 0, trains: false }
  return {
    shape,
    values,
    ids,
    ws: ws ?? createWorkspace(alloc, shape, size),
    index: ws && u32('index', W),
    inputs: u32('inputs', texts, INPUT_COLUMNS * W),
    scored: u32('scored', W, SCORED_COLUMNS),
    raw: all.slice(0, readouts / 2),
    normed: all.slice(readouts / 2),
    outputs: [f32('all_values', texts, readouts * stride), u32('all_ids', texts, ids.shape[0])],
    scratch: {
      top: createTopScratch(alloc, shape, W),
      running: createRunning(alloc, shape, W),
      gathered: ws && f32('gathered', W, shape.hidden_size),
      normed: f32('normed', W, shape.hidden_size),
      inv_rms: f32('inv_rms', W),
      lse: f32('lse', W),
      sum_pi_squared: f32('sum_pi_squared', W),
    },
  }
}

/** Uploads the ids of all texts. Throws RangeError for one that is empty or too long, or when there
 * are too many. */
export function uploadLens(
  gpu: Pick<Gpu, 'write'>,
  { ws, inputs }: LensTensors,
  texts: readonly (readonly number[])[],
): void {
  const [most, columns] = inputs.shape
  if (texts.length > most)
    throw new RangeError(`lens: expected at most ${most} texts, got ${texts.length}`)
  const data = new Uint32Array(texts.length * columns)
  texts.forEach((ids, i) => {
    data.set(inputOf(ids, ws.width), i * columns)
  })
  gpu.write(ws.cu_seqlens, Uint32Array.of(0, ws.width))
  gpu.write(inputs, data)
}

/** Ids, mask, positions and scored tokens of one text in T columns. The last token's next one is
 * any: it has none. */
function inputOf(ids: readonly number[], T: number): Uint32Array {
  const S = ids.length
  if (S === 0 || S > T) throw new RangeError(`lens: expected a text of 1 to ${T} tokens, got ${S}`)
  const columns = Array.from({ length: T }, (_, i) => i)
  const size = { rows: 1, width: T, first_column: 0, response_length: T }
  const next = columns.map((i) => ids[i + 1] ?? 0)
  const mask = columns.map((i) => (i < S ? 1 : 0))
  return Uint32Array.from([
    ...columns.map((i) => ids[i] ?? 0),
    ...mask,
    ...columns.map((i) => Math.min(i, S - 1)),
    ...listScored(size, next, mask),
  ])
}

/** Records the lens on one uploaded text, by its number: fills that text's part of `outputs`. */
export function recordLens(recorder: Recorder<'text'>, model: Model, t: LensTensors): void {
  const { copy } = recorder
  const { shape, ws, inputs, outputs } = t
  const T = ws.width
  const columns = inputs.shape[1]
  const from = (part: number) => ({
    fromOffset: ({ text }: { text: number }) => text * columns + part * T,
  })
  copy(inputs, ws.input_ids, { ...from(0), count: T })
  copy(inputs, ws.attention_mask, { ...from(1), count: T })
  copy(inputs, ws.position_ids, { ...from(2), count: T })
  copy(inputs, t.scored, { ...from(3), count: T * SCORED_COLUMNS })
  const read = stateReader(recorder, model, t)
  forward(recorder, model, ws, {
    layers: shape.num_hidden_layers,
    onHidden: (l) => read(l, ws.hidden[l]),
  })
  const to = (size: number) => ({ toOffset: ({ text }: { text: number }) => text * size })
  copy(t.values, outputs[0], to(t.values.shape[0]))
  copy(t.ids, outputs[1], to(t.ids.shape[0]))
}

/** Reads H^l, [W, C], raw and through the final norm. */
export function stateReader<L extends string>(
  { run }: Pick<Recorder<L>, 'run'>,
  model: Model,
  t: LensTensors,
): (layer: number, states: Tensor) => void {
  const { shape, scratch } = t
  const W = t.scored.shape[0]
  const read = (states: Tensor, out: ReadoutTensors) => {
    const scored = { tokens: W, scored: t.scored }
    const { lse, sum_pi_squared, running } = scratch
    const { entropy, log_probs, ids, probs } = out
    unembed({ run }, model, { hidden: states, inv_temperature: 1 }, scored, {
      entropy,
      log_probs,
      lse,
      sum_pi_squared,
      running,
    })
    topTokens({ run }, model, { states, rows: W }, scratch.top, { ids, probs })
  }
  const norm = { rows: W, cols: shape.hidden_size, eps: shape.rms_norm_eps }
  return (l, x) => {
    read(x, t.raw[l])
    const { normed: y, inv_rms } = scratch
    run(rms_norm_forward, norm, { x, weight: model.weights.norm, y, inv_rms })
    read(y, t.normed[l])
  }
}

/** What a read-out says at S positions. Position s predicts token s + 1. */
export interface LensNumbers {
  /** Nats, [S, L+1]. */
  readonly entropy: Float32Array
  /** Likeliest first, [S, L+1, K]. */
  readonly ids: Uint32Array
  readonly probs: Float32Array
  /** Probability of the token that follows, [S, L+1]; NaN at the last position. */
  readonly next_prob: Float32Array
}

/** The numbers of one text of S tokens from `outputs` as they came back. */
export function unpackLens(
  t: LensTensors,
  [values, ids]: readonly [Float32Array, Uint32Array],
  text: number,
  S: number,
): { readonly raw: LensNumbers; readonly normed: LensNumbers } {
  const [valueOffset, idOffset] = [text * t.values.shape[0], text * t.ids.shape[0]]
  const unpack = (readouts: readonly ReadoutTensors[]): LensNumbers => {
    const states = readouts.length
    const entropy = new Float32Array(S * states)
    const next_prob = new Float32Array(S * states)
    const top = new Uint32Array(S * states * TOP_K)
    const probs = new Float32Array(S * states * TOP_K)
    readouts.forEach((readout, l) => {
      for (let s = 0; s < S; s++) {
        const at = s * states + l
        entropy[at] = values[valueOffset + readout.entropy.offset + s]
        const logProb = values[valueOffset + readout.log_probs.offset + s]
        next_prob[at] = s === S - 1 ? Number.NaN : Math.exp(logProb)
        const first = idOffset + readout.ids.offset + s * TOP_K
        top.set(ids.subarray(first, first + TOP_K), at * TOP_K)
        const prob = valueOffset + readout.probs.offset + s * TOP_K
        probs.set(values.subarray(prob, prob + TOP_K), at * TOP_K)
      }
    })
    return { entropy, ids: top, probs, next_prob }
  }
  return { raw: unpack(t.raw), normed: unpack(t.normed) }
}
