// Finds where the answer travels. A model reads a corrupted text; at one place and one token its
// state is exchanged for what it is in the clean text, and the answer says how much of the way back
// that is (activation patching: Meng et al. 2022, arXiv 2202.05262; normalised as TransformerLens).

import type { Program } from '../../../kernels/device/base/dispatch_table.ts'
import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { captureRoom, openCapture } from '../../../model/internals/capture.ts'
import { recordInternals } from '../../../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../../model/internals/internals_tensors.ts'
import {
  type Change,
  createInterventions,
  writeInterventions,
} from '../../../model/interventions/intervention_tensors.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { createModel, type Model, uploadModel } from '../../../model/transformer/model.ts'
import type { Rows } from '../../../model/transformer/rows.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'
import { mean } from '../../math/stats.ts'
import type { PromptPair, TextPair } from './pairs.ts'

/** A place of a pass that is exchanged, one token at a time. */
export interface PatchedPlace {
  readonly where: 'residual' | 'attention' | 'feed_forward' | 'head'
  /** Blocks applied: 0 … L for the residual stream, 1 … L for parts of a block. */
  readonly layer: number
  /** From 0; of heads alone. */
  readonly head?: number
}

/** How much of the clean answer each token brings back: 0 as corrupted, 1 as clean. */
export interface Recovery extends PatchedPlace {
  /** By token. */
  readonly recovery: readonly number[]
}

export interface Patching {
  /** The pairs whose answers the model keeps apart: the mean is over them. */
  readonly pairs: readonly PromptPair[]
  /** Pairs that were tried. */
  readonly tried: number
  /** Mean logit of the clean answer less that of the corrupted one, for each text. */
  readonly logit_diff: { readonly clean: number; readonly corrupted: number }
  readonly places: readonly Recovery[]
}

/** Every place of these layers, where some are given; otherwise from the embedding to the last
 * block. */
export const placesOf = (
  {
    num_hidden_layers: L,
    num_attention_heads: H,
  }: Pick<ModelShape, 'num_hidden_layers' | 'num_attention_heads'>,
  layers: readonly number[] = Array.from({ length: L + 1 }, (_, layer) => layer),
): PatchedPlace[] =>
  layers.flatMap((layer): PatchedPlace[] => {
    const stream: PatchedPlace = { where: 'residual', layer }
    if (layer === 0) return [stream]
    const heads = Array.from(
      { length: H },
      (_, head): PatchedPlace => ({ where: 'head', layer, head }),
    )
    return [stream, { where: 'attention', layer }, { where: 'feed_forward', layer }, ...heads]
  })

/** What stays on a device, or in a plan: a row for each of n tokens, which it alone is patched at,
 * and a column for the answer. */
function patchingRoom(alloc: Allocator, { shape }: ParamLayout, n: number) {
  const rows = n
  const width = n + 1
  const tokens = rows * width
  const values = tokens * Math.max(shape.hidden_size, shape.head_dim)
  const ws = createWorkspace(alloc, shape, { rows, width, response_length: 1, trains: false })
  return {
    ws,
    interventions: createInterventions(alloc, shape, { changes: 1, values, tokens }),
    internals: createInternals(alloc, shape, ws, { quantities: ['logits'], positions: 'response' }),
  }
}

/** Places whose states are exchanged; heads of a block are kept together. */
const capturedOf = (places: readonly PatchedPlace[]) =>
  places.filter(({ head }) => head === undefined || head === 0)

/** Every row reads the same text, so one is kept. */
const CAPTURED_ROWS = 1

/** What patching a text of n tokens at these layers takes, on a plan. */
export function planPatching(
  alloc: Allocator,
  layout: ParamLayout,
  n: number,
  layers?: readonly number[],
): void {
  createModel(alloc, layout)
  const { ws } = patchingRoom(alloc, layout, n)
  const { shape } = layout
  captureRoom(alloc, shape, ws, capturedOf(placesOf(shape, layers)), CAPTURED_ROWS)
}

/** The same text in every row, and behind it a token whose state nobody reads. */
function rowsOf(ids: readonly number[]): Rows {
  const n = ids.length
  const answer = ids[0]
  const laid = (value: (c: number) => number) =>
    Uint32Array.from({ length: n * (n + 1) }, (_, i) => value(i % (n + 1)))
  return {
    input_ids: laid((c) => ids[c] ?? answer),
    attention_mask: laid(() => 1),
    position_ids: laid((c) => c),
    response_ids: new Uint32Array(n).fill(answer),
    response_mask: new Float32Array(n).fill(1),
  }
}

/** One place of every row, each at its own token, as it is in the clean text. `states`: of the
 * place, [n + 1, size]. */
function patchChange(
  { where, layer, head }: PatchedPlace,
  states: Float32Array,
  { head_dim: D, hidden_size: C, attentionSize }: ModelShape,
  n: number,
): Change {
  const [size, cols, from] =
    head === undefined ? [C, C, 0] : ([D, attentionSize, head * D] as const)
  const width = n + 1
  const values = new Float32Array(n * width * size)
  const chosen = new Uint32Array(n * width)
  for (let t = 0; t < n; t++) {
    const at = t * width + t
    chosen[at] = 1
    values.set(states.subarray(t * cols + from, t * cols + from + size), at * size)
  }
  return { where, layer, ...(head !== undefined && { head }), adds: false, values, chosen }
}

/** The token with the largest logit among those that are not `but`. */
const best = (logits: Float32Array, but?: number) =>
  logits.reduce((top, x, id) => (id !== but && (top < 0 || x > logits[top]) ? id : top), -1)

interface Kept {
  readonly pair: PromptPair
  /** Logit of the answer less that of the wrong one. */
  readonly clean: number
  readonly corrupted: number
}

/** Reads pairs of texts of one length with a model, untouched and patched. */
class Patcher {
  readonly #gpu: Gpu
  readonly #room: ReturnType<typeof patchingRoom>
  readonly #model: Model
  readonly #program: Program<never>
  readonly #n: number

  private constructor(
    gpu: Gpu,
    room: ReturnType<typeof patchingRoom>,
    model: Model,
    program: Program<never>,
    n: number,
  ) {
    this.#gpu = gpu
    this.#room = room
    this.#model = model
    this.#program = program
    this.#n = n
  }

  static async create(gpu: Gpu, layout: ParamLayout, weights: Float32Array, n: number) {
    const room = patchingRoom(gpu, layout, n)
    const model = { ...createModel(gpu, layout), interventions: room.interventions }
    uploadModel(gpu, model, weights)
    const program = await gpu.record('patching', [], (r) =>
      recordInternals(r, model, room.internals),
    )
    return new Patcher(gpu, room, model, program, n)
  }

  /** What the model keeps apart; undefined where it prefers the same answer for both texts. */
  async untouched({ clean, corrupted, ...given }: TextPair): Promise<Kept | undefined> {
    const [withClean] = await this.#logits(clean)
    const [withCorrupted] = await this.#logits(corrupted)
    const answer = given.answer ?? best(withClean)
    const wrong = given.wrong ?? best(withCorrupted, answer)
    const difference = (logits: Float32Array) => logits[answer] - logits[wrong]
    const kept = {
      pair: { clean, corrupted, answer, wrong },
      clean: difference(withClean),
      corrupted: difference(withCorrupted),
    }
    return kept.clean > 0 && kept.corrupted < 0 ? kept : undefined
  }

  /** For each place, the difference with each token of it as in the clean text. */
  async patched(
    { pair }: Kept,
    places: readonly PatchedPlace[],
    onDone: () => void,
  ): Promise<readonly number[][]> {
    const { shape } = this.#model
    const captured = capturedOf(places)
    const { ws } = this.#room
    const capture = await openCapture(this.#gpu, this.#model, ws, captured, CAPTURED_ROWS)
    const states = await capture.read(rowsOf(pair.clean))
    capture.free()
    const found: number[][] = []
    for (const place of places) {
      const { where, layer } = place
      const of = captured.findIndex((one) => one.where === where && one.layer === layer)
      this.#set([patchChange(place, states[of], shape, this.#n)])
      const logits = await this.#logits(pair.corrupted)
      found.push(logits.map((row) => row[pair.answer] - row[pair.wrong]))
      onDone()
    }
    this.#set([])
    return found
  }

  #set(changes: readonly Change[]): void {
    writeInterventions(this.#gpu, this.#room.interventions, this.#model.shape, changes)
  }

  /** Of each row. */
  async #logits(ids: readonly number[]): Promise<Float32Array[]> {
    uploadInternals(this.#gpu, this.#room.internals, rowsOf(ids))
    this.#gpu.replay(this.#program)
    const { logits } = (await readInternals(this.#gpu, this.#room.internals)).values
    const V = this.#model.shape.vocab_size
    return Array.from({ length: this.#n }, (_, r) => logits.subarray(r * V, (r + 1) * V))
  }
}

/** All pairs have texts of one length. Those that the model does not keep apart, because it prefers
 * the same answer for both texts, have nothing to bring back and are left out. Throws RangeError
 * where no pair remains. `layers`: those whose places are exchanged, all by default. `onDone` is
 * called after each place of each pair, and told how many there will be. */
export async function patching(
  gpu: Gpu,
  { layout, weights }: { readonly layout: ParamLayout; readonly weights: Float32Array },
  pairs: readonly TextPair[],
  onDone: (of: number) => void = () => {},
  layers?: readonly number[],
): Promise<Patching> {
  const n = pairs[0].clean.length
  const patcher = await Patcher.create(gpu, layout, weights, n)
  const kept: Kept[] = []
  for (const pair of pairs) {
    const one = await patcher.untouched(pair)
    if (one) kept.push(one)
  }
  if (kept.length === 0)
    throw new RangeError(
      pairs.length === 1
        ? 'The model gives the same answer to both texts, so there is no difference whose way could be followed. Take a later state, or other texts.'
        : `The model answers none of ${pairs.length} pairs of problems right both times, so there is no difference whose way could be followed. Take a later state.`,
    )
  const places = placesOf(layout.shape, layers)
  const of = kept.length * places.length
  const differences: (readonly number[][])[] = []
  for (const one of kept) differences.push(await patcher.patched(one, places, () => onDone(of)))
  const clean = mean(kept.map((one) => one.clean))
  const corrupted = mean(kept.map((one) => one.corrupted))
  const back = (i: number, t: number) => mean(differences.map((one) => one[i][t])) - corrupted
  return {
    pairs: kept.map(({ pair }) => pair),
    tried: pairs.length,
    logit_diff: { clean, corrupted },
    places: places.map((place, i) => ({
      ...place,
      recovery: Array.from({ length: n }, (_, t) => back(i, t) / (clean - corrupted)),
    })),
  }
}
