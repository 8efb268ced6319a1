// Holds the changes of a forward pass on the GPU: a table that a recorded program reads at each
// replay. An empty one changes nothing; a model without one has no dispatch for it.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import type { Recorder, Value } from '../../kernels/device/base/program.ts'
import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import {
  apply_interventions,
  ENTRY_SIZE,
  KEEPS,
} from '../../kernels/interventions/interventions.ts'
import type { ModelShape } from '../layout/config.ts'
import type { Where } from './intervention.ts'

/** A change whose values are known. */
export interface Change {
  readonly where: Where
  /** Blocks applied: 0 … L for the residual stream, 1 … L for parts of a block. */
  readonly layer: number
  /** Of 'head' alone, from 0. */
  readonly head?: number | undefined
  /** Whether the values are added to what is there; else they take its place. */
  readonly adds: boolean
  /** C numbers, or D of a head; once for all tokens, or for each token of the stream. */
  readonly values: Float32Array
  /** 1 at the tokens of the stream that are changed; absent = all. Values for each token need
   * it. */
  readonly chosen?: Uint32Array | undefined
  /** The same of the columns P + R of each decoded row; absent = all where `chosen` is absent too,
   * else none. */
  readonly decoded?: Uint32Array | undefined
}

/** How much a table has room for. */
export interface InterventionRoom {
  readonly changes: number
  /** Numbers of all changes together. */
  readonly values: number
  /** Tokens of a pass's stream. */
  readonly tokens: number
  /** Rows · (P + R) of a rollout; 0 = nothing is decoded. */
  readonly decoded?: number
}

export interface InterventionTensors {
  readonly room: InterventionRoom
  readonly places: number
  readonly table: Tensor<'u32'>
  readonly values: Tensor<'f32'>
  /** [changes, tokens] */
  readonly chosen: Tensor<'u32'>
  /** [changes, decoded] */
  readonly decoded: Tensor<'u32'>
}

/** Places where states are changed: the embedding, and three in a block. */
const placesOf = ({ num_hidden_layers: L }: Pick<ModelShape, 'num_hidden_layers'>) => 1 + 3 * L
/** Within a block: context, the stream after attention, the stream after the block. */
const IN_BLOCK = { head: 1, attention: 2, feed_forward: 3, block: 3, residual: 3 } as const
/** At the last of them changes of the feed-forward come first. */
const ORDER: readonly Where[] = ['head', 'attention', 'feed_forward', 'block', 'residual']

const placeOf = (where: Where, layer: number) =>
  layer === 0 ? 0 : 3 * (layer - 1) + IN_BLOCK[where]

/** Room for changes of passes of this model; empty. */
export function createInterventions(
  alloc: Allocator,
  shape: ModelShape,
  room: InterventionRoom,
): InterventionTensors {
  const places = placesOf(shape)
  const u32 = (label: string, ...dims: number[]) =>
    alloc.tensor(`interventions.${label}`, 'u32', dims, { kind: 'batch' })
  const changes = Math.max(1, room.changes)
  return {
    room,
    places,
    table: u32('table', 2 * places + ENTRY_SIZE * changes),
    values: alloc.tensor('interventions.values', 'f32', [Math.max(1, room.values)], {
      kind: 'batch',
    }),
    chosen: u32('chosen', changes, room.tokens),
    decoded: u32('decoded', changes, Math.max(1, room.decoded ?? 0)),
  }
}

/** What a list of changes takes of a table's room. */
const roomOf = (changes: readonly Change[]) => ({
  changes: changes.length,
  values: changes.reduce((sum, { values }) => sum + values.length, 0),
})

/** Writes changes for the replays that follow. Throws ShapeError where they do not fit. */
export function writeInterventions(
  gpu: Pick<Gpu, 'write'>,
  { room, places, table, values, chosen, decoded }: InterventionTensors,
  { head_dim, hidden_size }: Pick<ModelShape, 'head_dim' | 'hidden_size'>,
  changes: readonly Change[],
): void {
  const needed = roomOf(changes)
  if (needed.changes > room.changes || needed.values > room.values)
    throw new ShapeError(
      `interventions: expected at most ${room.changes} changes of ${room.values} numbers, got ${needed.changes} of ${needed.values}`,
    )
  const ordered = ORDER.flatMap((where) => changes.filter((change) => change.where === where)).sort(
    (a, b) => placeOf(a.where, a.layer) - placeOf(b.where, b.layer),
  )
  const words = new Uint32Array(table.shape[0])
  let at = 0
  for (const [e, change] of ordered.entries()) {
    const place = placeOf(change.where, change.layer)
    if (words[2 * place + 1] === 0) words[2 * place] = e
    words[2 * place + 1]++
    const columns = change.where === 'head' ? head_dim : hidden_size
    const stride = change.values.length === columns ? 0 : columns
    words.set(
      [
        (change.head ?? 0) * head_dim,
        columns,
        keptBy(change),
        at,
        stride,
        change.chosen || change.decoded ? e + 1 : 0,
      ],
      2 * places + ENTRY_SIZE * e,
    )
    gpu.write(values, change.values, at)
    at += change.values.length
    if (!change.chosen && !change.decoded) continue
    const all = (length: number) => new Uint32Array(length).fill(1)
    gpu.write(chosen, change.chosen ?? all(room.tokens), e * room.tokens)
    const columnsDecoded = room.decoded ?? 0
    if (columnsDecoded > 0)
      gpu.write(decoded, change.decoded ?? new Uint32Array(columnsDecoded), e * columnsDecoded)
  }
  gpu.write(table, words)
}

/** A head and the residual stream have nothing under them; a part of a block writes on top of the
 * stream. */
function keptBy({ where, adds }: Change): number {
  if (adds) return KEEPS.state
  if (where === 'attention' || where === 'feed_forward') return KEEPS.base_a
  return where === 'block' ? KEEPS.base_b : KEEPS.nothing
}

/** Which tokens of the masks a pass has: of its stream, or column `column` of rows that are
 * decoded. */
type Tokens<L extends string> =
  | { readonly count: Value<L> }
  | { readonly rows: number; readonly width: number; readonly column: number }

/** The state that a place changes, and what lies under it. */
export interface ChangedState {
  readonly state: Tensor
  /** The stream that the part was added to. */
  readonly base_a?: Tensor
  /** The stream before the block. */
  readonly base_b?: Tensor
}

/** Records the changes of one place. */
export function intervene<L extends string>(
  run: Recorder<L>['run'],
  { places, table, values, chosen, decoded }: InterventionTensors,
  { where, layer }: { readonly where: Where; readonly layer: number },
  tokens: Tokens<L>,
  { state, base_a = values, base_b = base_a }: ChangedState,
): void {
  const mask = 'rows' in tokens ? decoded : chosen
  const [, mask_tokens] = mask.shape
  const of =
    'rows' in tokens
      ? { tokens: tokens.rows, mask_stride: tokens.width, mask_offset: tokens.column }
      : { tokens: tokens.count, mask_stride: 1, mask_offset: 0 }
  const params = { ...of, cols: state.shape[1], place: placeOf(where, layer), places, mask_tokens }
  run(apply_interventions, params, { table, values, chosen: mask, base_a, base_b, state })
}
