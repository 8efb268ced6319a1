import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { momentsRef } from '../../kernels/moments/moments.ref.ts'
import { expectClose } from '../../kernels/testing.ts'
import { TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { createWorkspace } from '../transformer/workspace.ts'
import {
  createInternalMoments,
  recordInternalMoments,
  unpackInternalMoments,
} from './internal_moments.ts'
import { type MeanQuantity, QUANTITY_NAMES, tokenMeans } from './internal_quantities.ts'
import { internalsRef } from './internals.ref.ts'
import { recordInternals } from './internals.ts'
import { createInternals, uploadInternals } from './internals_tensors.ts'

const gpu = await Gpu.open()
const BATCH = testBatch(
  [
    { prompt: 5, response: 4 },
    { prompt: 2, response: 1 },
    { prompt: 4, response: 3 },
  ],
  { P: 5, R: 4, vocab_size: TINY.vocab_size, seed: 7 },
)
const NAMES = QUANTITY_NAMES.filter((name) => !name.startsWith('logits')) as MeanQuantity[]
const ROUNDING = { atol: 3e-5, rtol: 2e-5 }

test('mean and standard deviation of every quantity are those of the float64 model, without padding', async () => {
  const { layout, flat, exact } = testWeights(TINY, 1)
  const { shape } = layout
  const model = testModel(gpu, layout, flat)
  const { rows, width, R: response_length } = BATCH
  const ws = createWorkspace(gpu, shape, { rows, width, response_length, trains: false })
  const options = { quantities: NAMES, positions: 'response', layer: 2 } as const
  const internals = createInternals(gpu, shape, ws, options)
  const t = createInternalMoments(gpu, internals)
  const mask = gpu.tensor('mask', 'f32', [t.count], { data: BATCH.response_mask })
  uploadInternals(gpu, internals, BATCH)
  const program = await gpu.record('moments', [], (r) => {
    recordInternals(r, model, internals)
    recordInternalMoments(r, t, mask)
  })
  gpu.replay(program)
  const [read] = await gpu.read(t.moments)
  const { mean, std } = unpackInternalMoments(t, read)

  const cache = forwardRef(TINY, exact, BATCH)
  const truth = internalsRef(TINY, exact, cache, { ...BATCH, ...options, response_length })
  const means = tokenMeans(truth)
  const N = BATCH.response_mask.length
  for (const name of NAMES) {
    const values = truth.values[name]
    const sets = Array.from({ length: values.length / N }, (_, entry) => [entry] as const)
    const expected = momentsRef(values, BATCH.response_mask, sets)
    expectClose(mean[name] ?? [], expected.mean, ROUNDING)
    expectClose(mean[name] ?? [], means[name] ?? [], ROUNDING)
    expectClose(std[name] ?? [], expected.std, ROUNDING)
  }
  expect(Object.keys(mean)).toEqual(NAMES)
})
