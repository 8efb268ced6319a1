// Reads a window of positions of one long text: the whole text passes through the model, and only
// these positions are read. T columns of the workspace, S of them the text's, W positions at most
// that are read.

import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { embedding_forward } from '../../kernels/embedding/embedding.ts'
import { listScored } from '../../kernels/vocab_head/scored.ts'
import type { Model } from '../transformer/model.ts'
import { forward } from '../transformer/transformer.ts'
import type { Workspace } from '../transformer/workspace.ts'
import type { InternalsTensors } from './internals_tensors.ts'
import { type LensTensors, stateReader } from './lens.ts'

/** Positions first … first + count − 1 of a text. */
export interface TextWindow {
  readonly ids: readonly number[]
  readonly first: number
  readonly count: number
}

/** What a window is uploaded to: its length at most is that of `scored`. */
interface Window extends Pick<LensTensors, 'ws' | 'index'> {
  readonly scored: Tensor
  /** 1 for each position that is read, [W]. */
  readonly mask?: Tensor
}

/** Uploads a text and which of its positions are read. Throws RangeError for one that does not
 * fit. */
export function uploadWindow(
  gpu: Pick<Gpu, 'write'>,
  { ws, scored, index, mask: read }: Window,
  window: TextWindow,
): void {
  const { ids, first, count } = window
  const [T, W] = [ws.width, scored.shape[0]]
  if (ids.length === 0 || ids.length > T)
    throw new RangeError(`lens: expected a text of 1 to ${T} tokens, got ${ids.length}`)
  if (!(count >= 1 && count <= W && first >= 0 && first + count <= ids.length))
    throw new RangeError(`lens: expected 1 to ${W} positions of the text, got ${first} + ${count}`)
  uploadText(gpu, ws, ids)
  const row = (i: number) => Math.min(first + i, ids.length - 1)
  const rows = Uint32Array.from({ length: W }, (_, i) => row(i))
  const next = Array.from(rows, (r) => ids[r + 1] ?? 0)
  const mask = Array.from(rows, (_, i) => (i < count ? 1 : 0))
  const size = { rows: 1, width: W, first_column: 0, response_length: W }
  gpu.write(scored, listScored(size, next, mask))
  if (index) gpu.write(index, rows)
  if (read) gpu.write(read, Float32Array.from(mask))
}

function uploadText(gpu: Pick<Gpu, 'write'>, ws: Workspace, ids: readonly number[]): void {
  const T = ws.width
  const columns = Array.from({ length: T }, (_, i) => i)
  gpu.write(ws.cu_seqlens, Uint32Array.of(0, ids.length))
  gpu.write(
    ws.input_ids,
    Uint32Array.from(columns, (i) => ids[i] ?? 0),
  )
  gpu.write(
    ws.attention_mask,
    Uint32Array.from(columns, (i) => (i < ids.length ? 1 : 0)),
  )
  gpu.write(ws.position_ids, Uint32Array.from(columns))
}

/** Records the lens on an uploaded window of a text of `tokens` tokens: fills `values` and
 * `ids`. */
export function recordLensWindow(recorder: Recorder<'tokens'>, model: Model, t: LensTensors): void {
  const { run } = recorder
  const { shape, ws, index, scratch } = t
  const { gathered: out } = scratch
  if (!index || !out) throw new RangeError('lens: expected a window of a workspace')
  const rows = { first_id: 0, ids: ws.width }
  const size = { tokens: index.shape[0], hidden_size: shape.hidden_size, ...rows }
  const read = stateReader(recorder, model, t)
  const onHidden = (l: number) => {
    run(embedding_forward, size, { input_ids: index, weight: ws.hidden[l], out })
    read(l, out)
  }
  forward(recorder, model, ws, {
    layers: shape.num_hidden_layers,
    onHidden,
    count: ({ tokens }) => tokens,
  })
}

/** The part of internals that names the window's positions, as uploadWindow takes it. */
export const internalsWindow = ({ ws, scored, scratch, mask }: InternalsTensors): Window => ({
  ws,
  mask,
  scored: scored.scored,
  index: scratch.index as Tensor<'u32'>,
})
