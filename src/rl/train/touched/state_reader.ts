// Reads the residual stream at chosen tokens of texts, after every number of blocks.
import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { captureRoom, openCapture, type Place } from '../../../model/internals/capture.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { Model } from '../../../model/transformer/model.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'
import type { LensText } from '../../look/lens_texts.ts'
import { rowsOf, type Sizes, sizesOf } from './answers/problem_texts.ts'

/** A token of a text. */
export interface Spot {
  readonly text: number
  /** From 0. */
  readonly token: number
}

const placesOf = ({ num_hidden_layers: L }: ModelShape): Place[] =>
  Array.from({ length: L + 1 }, (_, layer) => ({ where: 'residual', layer }))

const roomOf = (alloc: Allocator, shape: ModelShape, size: Sizes) =>
  createWorkspace(alloc, shape, { ...size, response_length: 0, trains: false })

/** What reading takes, on a plan. */
export function planStates(alloc: Allocator, shape: ModelShape, texts: readonly LensText[]): void {
  captureRoom(alloc, shape, roomOf(alloc, shape, sizesOf(texts)), placesOf(shape))
}

/** Reads [spots, C] of every layer, 0 to L, with the weights that the model has then. */
export async function stateReader(
  gpu: Gpu,
  model: Model,
  texts: readonly LensText[],
  pad: number,
): Promise<(spots: readonly Spot[]) => Promise<Float32Array[]>> {
  const { shape } = model
  const size = sizesOf(texts)
  const places = placesOf(shape)
  const capture = await openCapture(gpu, model, roomOf(gpu, shape, size), places)
  const C = shape.hidden_size
  return async (spots) => {
    const found = places.map(() => new Float32Array(spots.length * C))
    for (let first = 0; first < texts.length; first += size.rows) {
      // The last rows are filled up; what is read of the fillers is dropped.
      const batch = Array.from(
        { length: size.rows },
        (_, b) => texts[Math.min(texts.length - 1, first + b)],
      )
      const states = await capture.read(rowsOf(batch, size, pad))
      for (const [i, { text, token }] of spots.entries()) {
        const row = text - first
        if (row < 0 || row >= size.rows) continue
        const at = ((row + 1) * size.width - texts[text].ids.length + token) * C
        for (const [l, of] of states.entries()) found[l].set(of.subarray(at, at + C), i * C)
      }
    }
    return found
  }
}
