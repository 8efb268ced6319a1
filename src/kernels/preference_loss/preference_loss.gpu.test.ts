import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { bradleyTerryRef } from './preference_loss.ref.ts'
import { bradley_terry_loss } from './preference_loss.ts'

const gpu = await Gpu.open()

async function run(scores: Float32Array, inv_pairs: number) {
  const tensors = {
    scores: gpu.tensor('scores', 'f32', [scores.length], { data: scores }),
    d_scores: gpu.tensor('d_scores', 'f32', [scores.length], { data: scores.map(() => 9) }),
    sums: gpu.tensor('sums', 'f32', [2], { data: Float32Array.of(1, 2) }),
  }
  await gpu.run(bradley_terry_loss, { pairs: scores.length / 2, inv_pairs }, tensors)
  const [d_scores, sums] = await gpu.read(tensors.d_scores, tensors.sums)
  return { d_scores, sums }
}

describe('bradley_terry_loss', () => {
  test.for([1, 3, 256, 257, 700])(
    'matches the reference at %i pairs, and adds to its sums',
    async (pairs) => {
      const scores = randomValues(2 * pairs, pairs).map((x) => 5 * x)
      // Gradients of order one, so that the tolerance is tight for them too.
      const inv_pairs = pairs < 10 ? 1 / pairs : 2 / pairs
      const expected = bradleyTerryRef(scores, inv_pairs)
      const { d_scores, sums } = await run(scores, inv_pairs)
      expectClose(d_scores, expected.d_scores)
      expectClose(sums, [1 + expected.loss, 2 + expected.accuracy])
    },
  )

  test('large margins keep their digits and stay finite', async () => {
    const margins = [4, 5, 6, 7, 12, 30, 80]
    for (const margin of margins) {
      const right = await run(Float32Array.of(margin, 0), 1)
      const loss = Math.log1p(Math.exp(-margin))
      expectClose(right.sums, [1 + loss, 3])
      // exp in f32 is off by up to (3 + 2 |x|) units in the last place, 2e-5 at 80.
      expectClose(
        right.d_scores,
        [-1, 1].map((s) => s / (1 + Math.exp(margin))),
        { atol: 0, rtol: 3e-5 },
      )
    }
    const wrong = await run(Float32Array.of(-500, 500), 1)
    expect([...wrong.sums, ...wrong.d_scores]).toEqual([1001, 2, -1, 1])
  })

  test('a tie is not a right answer and pulls both ways alike', async () => {
    const { d_scores, sums } = await run(Float32Array.of(3, 3), 1)
    expectClose([...d_scores, ...sums], [-0.5, 0.5, 1 + Math.LN2, 2])
  })
})
