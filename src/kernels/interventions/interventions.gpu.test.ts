import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { applyInterventionsRef } from './interventions.ref.ts'
import { apply_interventions, KEEPS } from './interventions.ts'

const gpu = await Gpu.open()

test.for([
  [1, 1, 1, 0],
  [65, 7, 1, 0],
  [3, 64, 5, 2],
  [13, 33, 2, 1],
])(
  'equals the reference at [%i, %i] with tokens %i apart from %i',
  async ([tokens, cols, stride, offset]) => {
    const mask_tokens = tokens * stride
    const table = Uint32Array.from([
      0,
      0,
      0,
      4,
      0,
      cols,
      KEEPS.base_a,
      0,
      0,
      1,
      0,
      0,
      Math.floor(cols / 2),
      Math.ceil(cols / 2),
      KEEPS.state,
      1,
      0,
      2,
      0,
      0,
      0,
      Math.ceil(cols / 3),
      KEEPS.base_b,
      2,
      1,
      2,
      0,
      0,
      cols - 1,
      1,
      KEEPS.nothing,
      5,
      0,
      1,
      0,
      0,
    ])
    const random = (size: number, seed: number) => randomValues(size, seed)
    const data = {
      values: random(mask_tokens + 3 * cols + 8, 1),
      base_a: random(tokens * cols, 2),
      base_b: random(tokens * cols, 3),
      state: random(tokens * cols, 4),
    }
    const chosen = Uint32Array.from({ length: 2 * mask_tokens }, (_, i) => (i % 3 === 0 ? 0 : 1))
    const params = { tokens, cols, place: 1, places: 2, mask_tokens, mask_stride: stride }
    const f32 = (name: keyof typeof data) =>
      gpu.tensor(name, 'f32', [data[name].length], { data: data[name] })
    const state = f32('state')
    const tensors = {
      table: gpu.tensor('table', 'u32', [table.length], { data: table }),
      chosen: gpu.tensor('chosen', 'u32', [chosen.length], { data: chosen }),
      values: f32('values'),
      base_a: f32('base_a'),
      base_b: f32('base_b'),
      state,
    }
    await gpu.run(apply_interventions, { ...params, place: 0, mask_offset: offset }, tensors)
    expect((await gpu.read(state))[0]).toEqual(data.state)
    await gpu.run(apply_interventions, { ...params, mask_offset: offset }, tensors)
    const [actual] = await gpu.read(state)
    const truth = applyInterventionsRef(
      { ...data, table, chosen },
      { ...params, mask_offset: offset },
    )
    expectClose(actual, truth)
  },
)
