import { expect, test } from 'vitest'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { TOP_K } from '../../kernels/top_k/top_k.ts'
import { CONFIGS, TINY, testModel, testWeights } from '../testing.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { lensRef } from './lens.ref.ts'
import { createLens, recordLens, unpackLens, uploadLens } from './lens.ts'

const gpu = await Gpu.open()
const TEXTS = [[3, 9, 2, 7, 4], [5], [1, 1, 8, 10, 6, 2, 9]]
const ROUNDING = { atol: 3e-5, rtol: 2e-5 }

test.for(CONFIGS.map((config, i) => [`${config.model_type} ${i}`, config] as const))(
  '%s: every text equals the float64 lens, at every layer and position',
  async ([, config]) => {
    const { layout, flat, exact } = testWeights(config, 1)
    const { shape } = layout
    const model = testModel(gpu, layout, flat)
    const lens = createLens(gpu, shape, { texts: 3, width: 9 })
    uploadLens(gpu, lens, TEXTS)
    const program = await gpu.record('lens', ['text'], (r) => recordLens(r, model, lens))
    for (const text of TEXTS.keys()) gpu.replay(program, { text })
    const read = await gpu.read(...lens.outputs)
    for (const [i, ids] of TEXTS.entries()) {
      const actual = unpackLens(lens, read, i, ids.length)
      const batch = {
        input_ids: ids,
        attention_mask: ids.map(() => 1),
        rows: 1,
        width: ids.length,
        position_ids: ids.map((_, s) => s),
      }
      const truth = lensRef(config, exact, forwardRef(config, exact, batch), TOP_K)
      for (const readout of ['raw', 'normed'] as const) {
        expectClose(actual[readout].entropy, truth[readout].entropy, ROUNDING)
        expectClose(actual[readout].probs, truth[readout].probs, ROUNDING)
        expect(actual[readout].ids).toEqual(truth[readout].ids)
        const { next_prob } = actual[readout]
        const states = shape.num_hidden_layers + 1
        const last = next_prob.length - states
        expect(next_prob.subarray(last).every(Number.isNaN)).toBe(true)
        expectClose(
          next_prob.subarray(0, last),
          truth[readout].next_prob.subarray(0, last),
          ROUNDING,
        )
      }
    }
  },
)

test('texts that do not fit are refused, and there is one array of logits', () => {
  const { shape } = testWeights(TINY, 1).layout
  const plan = new MemoryPlan()
  const lens = createLens(plan, shape, { texts: 1, width: 4 })
  const write = () => {}
  expect(() => uploadLens({ write }, lens, [[]])).toThrow(/1 to 4 tokens, got 0/)
  expect(() => uploadLens({ write }, lens, [[1, 2, 3, 4, 5]])).toThrow(/1 to 4 tokens, got 5/)
  expect(() => uploadLens({ write }, lens, [[1], [2]])).toThrow(/at most 1 texts, got 2/)
  expect(lens.scratch.top.logits.shape).toEqual([4, TINY.vocab_size])
  const long = createLens(plan, { ...shape, vocab_size: 151_936 }, { texts: 1, width: 2048 })
  expect(long.scratch.top.logits.shape).toEqual([64, 151_936])
})
