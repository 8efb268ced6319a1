import { describe, test } from 'vitest'

import { Gpu } from '../gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { softmax_forward_ref } from './softmax.ref.ts'
import { softmax_forward } from './softmax.ts'

const gpu = await Gpu.open()

describe('softmax_forward', () => {
  // One, a prime, a workgroup, one past a workgroup, more than one stride.
  test.for([
    [1, 1],
    [3, 7],
    [2, 64],
    [5, 65],
    [4, 257],
  ])('matches the reference at [%i, %i]', async ([rows, cols]) => {
    const values = randomValues(rows * cols, rows * 1000 + cols).map((x) => x * 20)
    const logits = gpu.tensor('logits', 'f32', [rows, cols], { data: values })
    const probs = gpu.tensor('probs', 'f32', [rows, cols])
    await gpu.run(softmax_forward, { rows, cols }, { logits, probs })
    const [actual] = await gpu.read(probs)
    expectClose(actual, softmax_forward_ref(values, rows, cols))
  })
})
