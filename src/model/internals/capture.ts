// Keeps what places of an untouched pass hold for every token: the stream, what a block or a part
// of it writes, and what its heads write before the output projection.

import { type Allocator, sizeOf, type Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Where } from '../interventions/intervention.ts'
import type { ModelShape } from '../layout/config.ts'
import type { Model } from '../transformer/model.ts'
import { type Rows, uploadRows } from '../transformer/rows.ts'
import { forward } from '../transformer/transformer.ts'
import type { Workspace } from '../transformer/workspace.ts'

/** A place of a pass; of all heads of a layer at once. qkv: what its attention compares,
 * rotated. */
export interface Place {
  readonly where: Where | 'qkv'
  /** Blocks applied: 0 … L for the residual stream, 1 … L for parts of a block. */
  readonly layer: number
}

/** Two tensors of a workspace, of which the second is taken from the first where there is one. */
function heldAt(ws: Workspace, { where, layer }: Place): readonly [Tensor, Tensor?] {
  if (where === 'residual') return [ws.hidden[layer]]
  const { context, middle, qkv_rotated } = ws.layers[layer - 1]
  if (where === 'qkv') return [qkv_rotated]
  if (where === 'head') return [context]
  if (where === 'attention') return [middle, ws.hidden[layer - 1]]
  return [ws.hidden[layer], where === 'feed_forward' ? middle : ws.hidden[layer - 1]]
}

const colsOf = ({ where }: Place, shape: ModelShape): number =>
  where === 'qkv' ? shape.qkvSize : where === 'head' ? shape.attentionSize : shape.hidden_size

type Held = readonly (readonly Tensor[])[]

/** Room for what is captured, on a device or in a plan. `rows`: only the first so many. */
export const captureRoom = (
  alloc: Allocator,
  shape: ModelShape,
  ws: Workspace,
  places: readonly Place[],
  rows = ws.rows,
): Held =>
  places.map((place) =>
    heldAt(ws, place).map((_, i) =>
      alloc.tensor(`captured.${i}`, 'f32', [rows * ws.width, colsOf(place, shape)]),
    ),
  )

/** Reads each place of one pass after another: [M, C], of heads [M, H · D], of qkv
 * [M, (H + 2K) · D]. `only`: of the first so many rows. */
export async function openCapture(
  gpu: Gpu,
  model: Model,
  ws: Workspace,
  places: readonly Place[],
  only = ws.rows,
): Promise<{ readonly read: (rows: Rows) => Promise<Float32Array[]>; readonly free: () => void }> {
  const kept = captureRoom(gpu, model.shape, ws, places, only)
  const program = await gpu.record('capture', [], (recorder) => {
    forward(recorder, model, ws, {
      layers: Math.max(...places.map(({ layer }) => layer)),
      // Blocks may share their activations, so a place is copied while its block is the last.
      onHidden: (l) => {
        for (const [i, place] of places.entries()) {
          if (place.layer !== l) continue
          heldAt(ws, place).forEach((tensor, j) => {
            const count = sizeOf(kept[i][j].shape)
            if (tensor) recorder.copy(tensor, kept[i][j], { count })
          })
        }
      },
    })
  })
  const read = async (rows: Rows) => {
    uploadRows(gpu, ws, rows)
    gpu.replay(program)
    const states: Float32Array[] = []
    for (const tensors of kept) {
      const [state, base] = await gpu.read(...tensors)
      states.push(base ? state.map((x, i) => x - base[i]) : state)
    }
    return states
  }
  return { read, free: () => gpu.free(...kept.flat()) }
}

/** The same of one pass alone. */
export async function captureStates(
  gpu: Gpu,
  model: Model,
  ws: Workspace,
  rows: Rows,
  places: readonly Place[],
): Promise<Float32Array[]> {
  const capture = await openCapture(gpu, model, ws, places)
  const states = await capture.read(rows)
  capture.free()
  return states
}
