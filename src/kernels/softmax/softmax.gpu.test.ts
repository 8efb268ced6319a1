import { describe, expect, test } from 'vitest'

import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { softmaxBackwardRef, softmaxForwardRef } from './softmax.ref.ts'
import { softmax_backward, softmax_forward } from './softmax.ts'

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
    expectClose(actual, softmaxForwardRef(values, rows, cols))
  })
})

describe('softmax_backward', () => {
  test.for([
    [1, 1],
    [3, 7],
    [5, 65],
    [4, 257],
  ])('matches the reference at [%i, %i]', async ([rows, cols]) => {
    const values = randomValues(rows * cols, cols).map((x) => x * 5)
    const p = softmaxForwardRef(values, rows, cols)
    const d = randomValues(rows * cols, cols + 1)
    const probs = gpu.tensor('probs', 'f32', [rows, cols], { data: p })
    const d_probs = gpu.tensor('d_probs', 'f32', [rows, cols], { data: d })
    const d_logits = gpu.tensor('d_logits', 'f32', [rows, cols])
    await gpu.run(softmax_backward, { rows, cols }, { probs, d_probs, d_logits })
    expectClose((await gpu.read(d_logits))[0], softmaxBackwardRef(p, d, rows, cols))
  })

  test('a folded grid with an overhang writes every row once and nothing else', async () => {
    const [rows, cols] = [5, 2]
    const half = new Float32Array(rows * cols).fill(0.5)
    const probs = gpu.tensor('probs', 'f32', [rows, cols], { data: half })
    const d = Float32Array.from({ length: rows * cols }, (_, i) => (i % 2 ? 0 : 4))
    const d_probs = gpu.tensor('d_probs', 'f32', [rows, cols], { data: d })
    const d_logits = gpu.tensor('d_logits', 'f32', [rows, cols])
    const folded = { ...softmax_backward, workgroups: () => [4, 2] as const }
    await gpu.run(folded, { rows, cols }, { probs, d_probs, d_logits })
    const expected = Array.from({ length: rows * cols }, (_, i) => (i % 2 ? -1 : 1))
    expect([...(await gpu.read(d_logits))[0]]).toEqual(expected)
  })
})
