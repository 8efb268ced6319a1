// Turns interventions as data into changes with values: means of the text itself, and states of
// other texts.
import { ShapeError } from '../../kernels/device/base/errors.ts'
import { freeing } from '../../kernels/device/freeing.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Intervention } from '../interventions/intervention.ts'
import type { Change, InterventionRoom } from '../interventions/intervention_tensors.ts'
import type { ModelShape } from '../layout/config.ts'
import type { Model } from '../transformer/model.ts'
import { type Rows, uploadRows } from '../transformer/rows.ts'
import { createWorkspace, type Workspace } from '../transformer/workspace.ts'
import { captureStates } from './capture.ts'

/** An intervention whose other texts, where it has any, are token ids. */
export interface GivenIntervention extends Omit<Intervention, 'from' | 'toward' | 'away'> {
  readonly from?: readonly number[]
  readonly toward?: readonly (readonly number[])[]
  readonly away?: readonly (readonly number[])[]
}

/** Numbers of one token: of a head, or of the stream. */
const sizeOf = ({ where }: Pick<Intervention, 'where'>, shape: ModelShape) =>
  where === 'head' ? shape.head_dim : shape.hidden_size

/** What a table needs for these interventions in passes of `tokens` tokens. */
export const roomFor = (
  list: readonly GivenIntervention[],
  shape: ModelShape,
  tokens: number,
): InterventionRoom => ({
  tokens,
  changes: list.length,
  values: list.reduce(
    (sum, one) => sum + sizeOf(one, shape) * (one.what === 'patch' ? tokens : 1),
    0,
  ),
})

/** The changes that a list asks for in passes over `batch`. Runs the model without them, on the
 * batch for means and on other texts for patches; then the batch is uploaded again. Throws
 * ShapeError for a text of another length, or a position that a row of the batch does not have. */
export async function resolveInterventions(
  gpu: Gpu,
  model: Model,
  ws: Workspace,
  batch: Rows,
  list: readonly GivenIntervention[],
): Promise<Change[]> {
  const lengths = rowLengths(ws, batch)
  const changes: Change[] = []
  for (const [i, given] of list.entries()) {
    const at = `interventions[${i}]`
    const { where, layer, head, what } = given
    const beyond = given.positions?.find((position) => lengths.some((n) => position >= n))
    if (beyond !== undefined)
      throw new ShapeError(
        `${at}.positions: expected tokens that every row has, got ${beyond} where the shortest row has ${Math.min(...lengths)}`,
      )
    const chosen = chosenTokens(batch, given)
    const adds = what === 'add'
    const base = { where, layer, ...(head !== undefined && { head }), adds }
    const values = await valuesOf(gpu, model, { ws, batch }, given, at)
    changes.push({ ...base, values, ...(chosen && { chosen }) })
  }
  uploadRows(gpu, ws, batch)
  return changes
}

const rowLengths = ({ rows, width }: Workspace, { attention_mask }: Rows): number[] =>
  Array.from({ length: rows }, (_, b) =>
    attention_mask.subarray(b * width, (b + 1) * width).reduce((a, b) => a + b, 0),
  )

/** Tokens of the stream that are changed; a patch has values for each and is told which. */
function chosenTokens(
  { attention_mask, position_ids }: Rows,
  { positions, what }: GivenIntervention,
): Uint32Array | undefined {
  if (!positions && what !== 'patch') return undefined
  return attention_mask.map((real, m) =>
    Number(real === 1 && (positions?.includes(position_ids[m]) ?? true)),
  )
}

async function valuesOf(
  gpu: Gpu,
  model: Model,
  { ws, batch }: { readonly ws: Workspace; readonly batch: Rows },
  given: GivenIntervention,
  at: string,
): Promise<Float32Array> {
  const { shape } = model
  const size = sizeOf(given, shape)
  const { what, value = [], strength = 1 } = given
  if (what === 'zero') return new Float32Array(size)
  if (what === 'value') return Float32Array.from(value)
  if (given.toward && given.away) {
    const [toward] = await meansOfTexts(gpu, model, [given], given.toward)
    const [away] = await meansOfTexts(gpu, model, [given], given.away)
    return toward.map((x, i) => strength * (x - away[i]))
  }
  if (what === 'add') return Float32Array.from(value, (x) => x * strength)
  const rows = what === 'patch' ? otherText(ws, batch, given.from ?? [], at) : batch
  const states = headOf((await captureStates(gpu, model, ws, rows, [given]))[0], shape, given.head)
  return what === 'patch' ? states : meanOf(states, batch.attention_mask, size)
}

/** Mean over texts of their mean states over tokens, at each place. */
export async function meansOfTexts(
  gpu: Gpu,
  model: Model,
  places: readonly Pick<GivenIntervention, 'where' | 'layer' | 'head'>[],
  texts: readonly (readonly number[])[],
): Promise<Float32Array[]> {
  const { shape } = model
  const rows = texts.length
  const width = Math.max(...texts.map(({ length }) => length))
  const { alloc, free } = freeing(gpu)
  const ws = createWorkspace(alloc, shape, { rows, width, response_length: 0, trains: false })
  const captured = await captureStates(gpu, model, ws, textRows(texts, width), places)
  free()
  return places.map((place, p) => {
    const size = sizeOf(place, shape)
    const states = headOf(captured[p], shape, place.head)
    const means = texts.map((text, b) => {
      const own = states.subarray(b * width * size, (b * width + text.length) * size)
      return meanOf(own, new Uint32Array(text.length).fill(1), size)
    })
    return means[0].map((_, i) => means.reduce((sum, mean) => sum + mean[i], 0) / rows)
  })
}

/** Texts in rows of one width, with padding at the right. */
function textRows(texts: readonly (readonly number[])[], width: number): Rows {
  const laid = (value: (text: readonly number[], c: number) => number) =>
    Uint32Array.from({ length: texts.length * width }, (_, i) =>
      value(texts[Math.floor(i / width)], i % width),
    )
  return {
    input_ids: laid((text, c) => text[c] ?? 0),
    attention_mask: laid((text, c) => Number(c < text.length)),
    position_ids: laid((_, c) => c),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  }
}

/** The batch with the ids of another text in its only row. */
function otherText(ws: Workspace, batch: Rows, from: readonly number[], at: string): Rows {
  const [length, ...others] = rowLengths(ws, batch)
  if (others.length > 0)
    throw new ShapeError(`${at}.from: expected one row of tokens to patch, got ${ws.rows}`)
  if (from.length !== length)
    throw new ShapeError(
      `${at}.from: expected a text of ${length} tokens, as long as the one that is patched, got ${from.length}`,
    )
  let next = 0
  const ids = batch.input_ids.map((id, m) => (batch.attention_mask[m] ? from[next++] : id))
  return { ...batch, input_ids: ids }
}

const headOf = (
  states: Float32Array,
  { head_dim: D, num_attention_heads: H }: ModelShape,
  head: number | undefined,
): Float32Array =>
  head === undefined ? states : states.filter((_, i) => Math.floor((i % (H * D)) / D) === head)

/** Mean over the real tokens of all rows, pooled. */
function meanOf(states: Float32Array, mask: Uint32Array, size: number): Float32Array {
  const sums = new Float64Array(size)
  states.forEach((x, i) => {
    if (mask[Math.floor(i / size)]) sums[i % size] += x
  })
  const tokens = mask.reduce((a, b) => a + b, 0)
  return Float32Array.from(sums, (sum) => sum / tokens)
}
