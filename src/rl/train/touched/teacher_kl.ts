// Measures how far the policy of every layer is from a teacher's, where held-out right answers are
// written: the same texts for every state of every run of a seed.
import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { lensRows, passSize } from '../../../model/lenses/lens_rows.ts'
import { createCompared, LayerReader } from '../../../model/lenses/read_layers.ts'
import { createModel, uploadModel } from '../../../model/transformer/model.ts'
import { createOtherTeacher } from '../../../model/transformer/teacher.ts'
import type { LensText } from '../../look/lens_texts.ts'

/** A model in the layout without an adapter. */
interface Weighed {
  readonly layout: ParamLayout
  readonly weights: Float32Array
}

/** Every layer as a policy of its own, and the final policy. */
const readsOf = ({ num_hidden_layers: L }: ModelShape) =>
  Array.from({ length: L + 1 }, (_, layer) => ({
    layer,
    readout: layer < L ? ('raw' as const) : ('normed' as const),
  }))

function roomOf(alloc: Allocator, own: ParamLayout, teacher: ParamLayout, texts: readonly Text[]) {
  const size = passSize(texts.length, Math.max(...texts.map(({ ids }) => ids.length)))
  const compared = createCompared(alloc, own.shape, size, teacher.shape)
  return {
    size,
    compared,
    model: createModel(alloc, own),
    other: createOtherTeacher(alloc, teacher, compared.ws),
    all: LayerReader.room(alloc, compared, readsOf(own.shape).length),
  }
}

type Text = Pick<LensText, 'ids' | 'prompt_length'>

/** What it takes, on a plan. */
export function planTeacherKl(
  alloc: Allocator,
  own: ParamLayout,
  teacher: ParamLayout,
  texts: readonly Text[],
): void {
  roomOf(alloc, own, teacher, texts)
}

/** Of each state of one run: KL(teacher ‖ policy of layer l), l = 0 … L, nats, mean over the tokens
 * of the answers. */
export async function teacherKl(
  gpu: Gpu,
  own: ParamLayout,
  teacher: Weighed,
  texts: readonly Text[],
  states: readonly (() => Promise<Float32Array>)[],
): Promise<number[][]> {
  const { size, compared, model, other, all } = roomOf(gpu, own, teacher.layout, texts)
  uploadModel(gpu, other.model, teacher.weights)
  const reads = readsOf(own.shape)
  const reader = await LayerReader.create(gpu, model, compared, reads, { all, other })
  const found: number[][] = []
  for (const state of states) {
    uploadModel(gpu, model, await state())
    const sums = reads.map(() => 0)
    let tokens = 0
    for (let first = 0; first < texts.length; first += size.rows) {
      const batch = texts.slice(first, first + size.rows)
      const columns = await reader.columns(
        lensRows(
          batch.map(({ ids }) => ids),
          size,
        ),
      )
      batch.forEach(({ ids, prompt_length }, row) => {
        // Each column is read for the token behind it.
        for (let column = prompt_length - 1; column < ids.length - 1; column++) {
          tokens++
          for (const [l, { kl }] of columns.entries()) sums[l] += kl[row * size.width + column]
        }
      })
    }
    found.push(sums.map((sum) => sum / tokens))
  }
  return found
}
