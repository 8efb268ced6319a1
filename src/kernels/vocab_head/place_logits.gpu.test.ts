import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import { placeLogitsRef } from './place_logits.ref.ts'
import { place_logits } from './place_logits.ts'

const gpu = await Gpu.open()

// [rows, columns of the part, vocabulary, first column]: one, a prime, one past a workgroup.
test.for([
  [1, 1, 1, 0],
  [7, 13, 31, 17],
  [5, 13, 66, 1],
])('places what the reference places, %j', async ([rows, cols, vocab_size, first_id]) => {
  const values = randomValues(rows * cols, 1)
  const before = randomValues(rows * vocab_size, 2)
  const part = gpu.tensor('part', 'f32', [rows, cols], { data: values })
  const out = gpu.tensor('out', 'f32', [rows, vocab_size], { data: before })
  await gpu.run(place_logits, { rows, cols, vocab_size, first_id }, { part, out })
  const expected = placeLogitsRef(values, cols, before, vocab_size, first_id)
  expect([...(await gpu.read(out))[0]]).toEqual([...expected])
})
