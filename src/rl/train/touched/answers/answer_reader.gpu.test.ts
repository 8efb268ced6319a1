// Right answers of different lengths, read together, say what the model says of each at all of its
// positions.
import { expect, test } from 'vitest'
import { Gpu } from '../../../../kernels/device/gpu.ts'
import { recordInternals } from '../../../../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../../../model/internals/internals_tensors.ts'
import { modelShape } from '../../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../../model/layout/params.ts'
import { createModel, uploadModel } from '../../../../model/transformer/model.ts'
import { createWorkspace } from '../../../../model/transformer/workspace.ts'
import type { LensText } from '../../../look/lens_texts.ts'
import { mean } from '../../../math/stats.ts'
import { CONFIG } from '../../../testing.ts'
import { AnswerReader, answerSizesOf } from './answer_reader.ts'
import { rowsOf } from './problem_texts.ts'

const layout = paramLayout(modelShape(CONFIG.model))
const { num_hidden_layers: L } = layout.shape
const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer_norm'] as const

const text = (ids: readonly number[], prompt_length: number): LensText => ({
  sample: { prompt: '', response: '', is_ended: true },
  ids: [...ids],
  prompt_length,
  is_held_out: true,
})
const TEXTS = [text([3, 4, 5, 6, 7, 8, 9], 4), text([5, 2], 1), text([9, 8, 7, 6], 3)]

test('an answer is read at its own tokens, whatever the lengths beside it', async () => {
  const gpu = await Gpu.open()
  const model = createModel(gpu, layout)
  uploadModel(gpu, model, initialWeights(layout, 3))
  const reader = await AnswerReader.create(gpu, model, answerSizesOf(TEXTS), 0)
  const found = await reader.read(TEXTS)
  for (const [i, one] of TEXTS.entries()) {
    const width = one.ids.length
    const size = { rows: 1, width }
    const ws = createWorkspace(gpu, layout.shape, { ...size, response_length: 0, trains: false })
    const all = createInternals(gpu, layout.shape, ws, { quantities: QUANTITIES, positions: 'all' })
    const program = await gpu.record('whole', [], (r) => recordInternals(r, model, all))
    uploadInternals(gpu, all, rowsOf([one], size, 0))
    gpu.replay(program)
    const { values } = await readInternals(gpu, all)
    const places = Array.from(
      { length: width - one.prompt_length },
      (_, t) => one.prompt_length - 1 + t,
    )
    const at = (of: Float32Array, layer: number) => places.map((p) => of[layer * width + p])
    const sum = at(values.logp_next_layer_norm, L).reduce((a, b) => a + b, 0)
    expect(found[i].log_prob).toBeCloseTo(sum, 4)
    for (let l = 0; l <= L; l++) {
      const entropy = mean(at(l === L ? values.ent_layer_norm : values.ent_layer_raw, l))
      expect(found[i].entropies[l]).toBeCloseTo(entropy, 4)
    }
  }
  gpu.destroy()
})
