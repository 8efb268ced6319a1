import { describe, expect, test } from 'vitest'

import { numericGradient, weightedSum } from '../../kernels/numericGradient.ref.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { CONFIGS, TINY, testBatch, testWeights } from '../testing.ts'
import type { RefArrays } from './operations.ref.ts'
import { forwardRef } from './transformer.ref.ts'
import { readSpan, scatterSpan, valuesBackwardRef, valuesRef } from './value.ref.ts'

const LENGTHS = [
  { prompt: 3, response: 2 },
  { prompt: 1, response: 3 },
]
const BATCH = testBatch(LENGTHS, { P: 3, R: 3, vocab_size: TINY.vocab_size, seed: 3 })

describe.for(
  CONFIGS.flatMap((config) => [
    [config.model_type, 'value_head', config] as const,
    [config.model_type, 'reward_head', config] as const,
  ]),
)('%s, %s', ([, head, config]) => {
  test('gradients are the finite differences of the values', () => {
    const { exact, layout } = testWeights({ ...config, num_hidden_layers: 2 }, 5, head)
    const two = { ...config, num_hidden_layers: 2 }
    const { response_mask: mask } = BATCH
    const dRead = randomValues(mask.length, 7)
    const objective = (params: RefArrays) => {
      const cache = forwardRef(two, params, BATCH)
      return weightedSum(dRead, readSpan(valuesRef(params, cache), cache, mask, BATCH.P - 1))
    }
    const cache = forwardRef(two, exact, BATCH)
    const d_values = scatterSpan(Float64Array.from(dRead), cache, mask, BATCH.P - 1)
    const grads = valuesBackwardRef(two, exact, cache, d_values)
    expect(Object.keys(grads).sort()).toEqual(layout.params.map(({ name }) => name).sort())
    for (const { name, size } of layout.params) {
      // A few of each parameter's elements: the formulas are the same for all.
      const places = [...new Set([0, 1, 2, 3, 4].map((k) => Math.floor((k * size) / 5)))]
      const at = (x: Float64Array) => Float64Array.from(places, (place) => x[place])
      const slopes = numericGradient((x) => {
        const values = exact[name].slice()
        places.forEach((place, k) => {
          values[place] = x[k]
        })
        return objective({ ...exact, [name]: values })
      }, at(exact[name]))
      expectClose(at(grads[name]), slopes, { atol: 1e-7, rtol: 1e-6 })
    }
  })
})

test('a value is the score of the normed state, plus the bias', () => {
  const { exact } = testWeights(TINY, 9, 'value_head')
  const cache = forwardRef(TINY, exact, BATCH)
  const C = TINY.hidden_size
  const m = BATCH.width + 4
  const state = cache.normed.subarray(m * C, (m + 1) * C)
  const expected = weightedSum(exact['score.weight'], state) + exact['score.bias'][0]
  expect(valuesRef(exact, cache)[m]).toBeCloseTo(expected, 12)
})

test('a span reads column first_column + t, 0 where masked, and scattering is its transpose', () => {
  const { exact } = testWeights(TINY, 9, 'value_head')
  const cache = forwardRef(TINY, exact, BATCH)
  const values = Float64Array.from({ length: 12 }, (_, m) => 10 + m)
  expect([...readSpan(values, cache, BATCH.response_mask, 2)]).toEqual([12, 13, 0, 18, 19, 20])
  const scattered = scatterSpan(Float64Array.of(1, 2, 3, 4, 5, 6), cache, BATCH.response_mask, 2)
  expect([...scattered]).toEqual([0, 0, 1, 2, 0, 0, 0, 0, 4, 5, 6, 0])
})
