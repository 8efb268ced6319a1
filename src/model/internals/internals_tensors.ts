// Makes room for what a probe shows, and reads it back. N = rows · columns probed positions.

import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { listScored } from '../../kernels/vocab_head/scored.ts'
import type { ModelShape } from '../layout/config.ts'
import { CHUNK } from '../layout/flat_params.ts'
import { createLogitsPart, createRunning } from '../transformer/head_ranges.ts'
import type { Scored } from '../transformer/policy.ts'
import { type Rows, uploadRows } from '../transformer/rows.ts'
import type { Workspace } from '../transformer/workspace.ts'
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

/** Where recordInternals writes and what it needs on the way. */
export interface InternalsTensors<Q extends Quantity = Quantity> {
  readonly quantities: readonly Q[]
  readonly positions: Positions
  /** The layer that kl_of_layer measures from. */
  readonly layer: number
  /** Whether final_norm is taken of the last state alone. */
  readonly isLastNormed: boolean
  readonly shape: ModelShape
  readonly ws: Workspace
  /** Probed columns of each row; N = ws.rows · columns. */
  readonly columns: number
  /** The probed positions, of states that hold nothing else. */
  readonly scored: Scored
  /** 1 where a position is a real token, for 'response' one that response_mask counts; [N]. */
  readonly mask: Tensor
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
  /** The probed rows of one tensor, as [N, C], [N, H · D] and [N, F]: the same memory. */
  readonly gathered: { readonly hidden: Tensor; readonly context: Tensor; readonly ffn: Tensor }
  /** What a block adds to the residual stream, [N, C]. */
  readonly write: Tensor
  /** final_norm(H^l), [N, C]; of H^L in the end. */
  readonly normed: Tensor
  readonly inv_rms: Tensor
  /** [N] each: for outputs that the caller did not ask for. */
  readonly spare: readonly Tensor[]
  /** Where the head lies in several ranges: sums between them, and the logits of one, where logits
   * are asked for. */
  readonly running: Tensor | undefined
  readonly logits_part: Tensor | undefined
}

interface InternalsOptions<Q extends Quantity> {
  readonly quantities: readonly Q[]
  readonly positions: Positions
  /** k of kl_of_layer, 0 … L; default 0. */
  readonly layer?: number
  /** So many positions of one row, in place of `positions`: which ones is uploaded with the row
   * (lens_window.ts). */
  readonly window?: number
  /** Only the last so many columns of each row, of 'all' positions. */
  readonly tail?: number
  /** Of the quantities with the final norm only the model's own policy, entry L, is computed: half
   * the work. What the other entries hold means nothing. */
  readonly isLastNormed?: boolean
}

/** Allocates room for these quantities at all positions of a workspace's rows, or at those that
 * predict its response. Only what is asked for is computed: entropies cost one pass over the
 * vocabulary per state, kl two. Throws RangeError for a layer that the model has not. */
export function createInternals<const Q extends Quantity>(
  alloc: Allocator,
  shape: ModelShape,
  ws: Workspace,
  { quantities, positions, layer = 0, window, tail, isLastNormed = false }: InternalsOptions<Q>,
): InternalsTensors<Q> {
  const { hidden_size: C, intermediate_size: F, attentionSize, vocab_size: V } = shape
  const states = shape.num_hidden_layers + 1
  if (!(Number.isInteger(layer) && layer >= 0 && layer < states))
    throw new RangeError(`layer: expected 0 to ${shape.num_hidden_layers}, got ${layer}`)
  const [firstColumn, columns] =
    window !== undefined
      ? [0, window]
      : positions === 'all'
        ? [ws.width - (tail ?? ws.width), tail ?? ws.width]
        : [ws.width - ws.response_length - 1, ws.response_length]
  const N = ws.rows * columns
  const tensor = (label: string, ...dims: number[]) =>
    alloc.tensor(`internals.${label}`, 'f32', dims)
  const list = (count: number, label: string, ...dims: number[]) =>
    Array.from({ length: count }, (_, l) => tensor(`${label}.${l}`, ...dims))
  const wants = (...names: Quantity[]) => names.some((name) => quantities.includes(name as Q))

  const { slots, values } = createSlots(alloc, N, shape.num_hidden_layers, quantities)
  const mask = tensor('mask', N)
  const logits = list(wants('logits') ? 1 : 0, 'logits', N, V)
  const layer_logits = list(wants('logits_layer') ? states : 0, 'logits_layer', N, V)
  const keeps = wants('cos_hidden', 'kl_layer_final', 'kl_final_layer', 'kl_of_layer')
  const index = Uint32Array.from({ length: N }, (_, i) => {
    return Math.floor(i / columns) * ws.width + firstColumn + (i % columns)
  })
  const gathered = tensor('gathered', N, Math.max(C, F, attentionSize))
  const part = (name: string, cols: number) => alloc.view(gathered, name, 0, [N, cols])
  return {
    quantities,
    positions,
    layer,
    isLastNormed,
    shape,
    ws,
    columns,
    mask,
    slots,
    logits,
    layer_logits,
    scored: { tokens: N, scored: alloc.tensor('internals.scored', 'u32', [N, 4]) },
    outputs: [values, mask, ...logits, ...layer_logits],
    kept: list(keeps ? states : 0, 'hidden', N, C),
    scratch: {
      index: alloc.tensor('internals.index', 'u32', [N], { data: index }),
      gathered: {
        hidden: part('hidden', C),
        context: part('context', attentionSize),
        ffn: part('ffn', F),
      },
      write: tensor('write', N, C),
      normed: tensor('normed', N, C),
      inv_rms: tensor('inv_rms', N),
      spare: list(4, 'spare', N),
      running: createRunning(alloc, shape, N, 2),
      logits_part:
        logits.length + layer_logits.length > 0 ? createLogitsPart(alloc, shape, N) : undefined,
    },
  }
}

/** Uploads the rows to be probed, in the padded layout. The next token of a position is the one in
 * the column behind it; that of a row's last column is another row's first: nextMask leaves it
 * out. */
export function uploadInternals(
  gpu: Pick<Gpu, 'write'>,
  { ws, columns, positions, mask, scored }: InternalsTensors,
  rows: Rows,
): void {
  uploadRows(gpu, ws, rows)
  const size = { rows: ws.rows, width: columns, first_column: 0, response_length: columns }
  const last = <T extends Uint32Array | Float32Array>(x: T) =>
    x.filter((_, i) => i % ws.width >= ws.width - columns) as T
  const ids = positions === 'all' ? last(nextIds(rows.input_ids)) : rows.response_ids
  const probed =
    positions === 'all' ? last(Float32Array.from(rows.attention_mask)) : rows.response_mask
  gpu.write(mask, probed)
  gpu.write(scored.scored, listScored(size, ids, probed))
}

const nextIds = (ids: Uint32Array) => ids.map((_, i) => ids[i + 1] ?? 0)

/** One tensor for all values, and [N] of it for each entry of each quantity that is not a
 * difference of others. */
function createSlots(
  alloc: Allocator,
  N: number,
  numHiddenLayers: number,
  quantities: readonly Quantity[],
): { slots: Map<Quantity, Tensor[]>; values: Tensor } {
  const computed = new Set<Quantity>(
    quantities.flatMap((q): readonly Quantity[] => (isDifference(q) ? DIFFERENCES[q] : [q])),
  )
  computed.delete('logits')
  computed.delete('logits_layer')
  const stride = slotStride(N)
  const counts = [...computed].map((q) => [q, entriesOf(q, numHiddenLayers)] as const)
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

/** Reads the quantities back, once what recordInternals recorded has been replayed. */
export async function readInternals<Q extends Quantity>(
  gpu: Pick<Gpu, 'read'>,
  t: InternalsTensors<Q>,
): Promise<Internals<Q>> {
  return unpackInternals(t, await gpu.read(...t.outputs))
}

/** One quantity's entries, [N] each, in `values`, the first of t.outputs read back. Not masked. */
export function slotsOf<Q extends Quantity>(
  { slots, ws, columns }: InternalsTensors<Q>,
  values: Float32Array,
  quantity: Q,
): Float32Array[] {
  const N = ws.rows * columns
  let start = 0
  for (const [name, { length }] of slots) {
    if (name === quantity)
      return Array.from({ length }, (_, l) => {
        const at = start + l * slotStride(N)
        return values.subarray(at, at + N)
      })
    start += length * slotStride(N)
  }
  return []
}

/** `arrays`: t.outputs read back, in their order. For callers that read other tensors in the same
 * go. */
function unpackInternals<Q extends Quantity>(
  t: InternalsTensors<Q>,
  arrays: readonly Float32Array[],
): Internals<Q> {
  const { shape, ws, columns, slots } = t
  const [flat, mask, ...vocabulary] = arrays
  const N = ws.rows * columns
  const next = t.positions === 'all' ? nextMask(mask, columns) : mask
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
    rows: ws.rows,
    columns,
    num_hidden_layers: shape.num_hidden_layers,
    mask,
    nextMask: next,
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
