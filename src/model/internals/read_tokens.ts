// Reads what layers would say next at every token of some texts, read in any way. M columns, K =
// TOP_K.
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { TOP_K } from '../../kernels/top_k/top_k.ts'
import type { ModelShape } from '../layout/config.ts'
import { type Readout, readsNormed } from '../layout/readout.ts'
import { wholeChunks } from '../layout/translators.ts'
import { createLensWorkspace, type LensRows, uploadLensRows } from '../lenses/lens_rows.ts'
import type { Model } from '../transformer/model.ts'
import { finalNorm } from '../transformer/policy.ts'
import { forward } from '../transformer/transformer.ts'
import { createTopScratch, topTokens } from './top_tokens.ts'

/** A layer under one reading. */
export interface LayerRead {
  readonly layer: number
  readonly readout: Readout
}

/** Likeliest first, [M, K] each; what stands at padding is no token's. */
export interface ReadTokens extends LayerRead {
  readonly ids: Uint32Array
  readonly probs: Float32Array
}

/** Everything on a device, or in a plan. */
export function readTokensRoom(
  alloc: Allocator,
  shape: ModelShape,
  size: Pick<LensRows, 'rows' | 'width'>,
  reads: number,
) {
  const M = size.rows * size.width
  const stride = wholeChunks(M * TOP_K)
  return {
    ws: createLensWorkspace(alloc, shape, size),
    scratch: createTopScratch(alloc, shape, M),
    stride,
    ids: alloc.tensor('read_tokens.ids', 'u32', [reads * stride]),
    probs: alloc.tensor('read_tokens.probs', 'f32', [reads * stride]),
  }
}

/** Runs the texts once and reads every layer as `reads` say; `model` has the lenses that they ask
 * for. */
export async function readTokens(
  gpu: Gpu,
  model: Model,
  rows: LensRows,
  reads: readonly LayerRead[],
): Promise<ReadTokens[]> {
  const { shape } = model
  const M = rows.rows * rows.width
  const { ws, scratch, stride, ...all } = readTokensRoom(gpu, shape, rows, reads.length)
  uploadLensRows(gpu, ws, rows)
  const program = await gpu.record('read_tokens', [], (r) => {
    forward(r, model, ws)
    reads.forEach(({ layer, readout }, i) => {
      const isNormed = readsNormed(shape, layer, readout)
      if (isNormed) finalNorm(r, model, ws, { layer, readout })
      const states = isNormed ? ws.normed : ws.hidden[layer]
      topTokens(r, model, { states, rows: M }, scratch, {
        ids: gpu.view(all.ids, 'read_tokens.ids', i * stride, [M, TOP_K]),
        probs: gpu.view(all.probs, 'read_tokens.probs', i * stride, [M, TOP_K]),
      })
    })
  })
  gpu.replay(program)
  const [ids, probs] = await gpu.read(all.ids, all.probs)
  return reads.map((read, i) => ({
    ...read,
    ids: ids.slice(i * stride, i * stride + M * TOP_K),
    probs: probs.slice(i * stride, i * stride + M * TOP_K),
  }))
}
