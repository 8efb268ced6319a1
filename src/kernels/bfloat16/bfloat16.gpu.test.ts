import { expect, test } from 'vitest'
import { decodeBfloat16, encodeBfloat16 } from '../device/bfloat16.ts'
import { Gpu } from '../device/gpu.ts'
import { randomValues } from '../testing.ts'
import { from_bfloat16, to_bfloat16 } from './bfloat16.ts'

const gpu = await Gpu.open()

test.for([1, 37, 65, 4099])('%i pairs have the bits of the CPU’s, both ways', async (words) => {
  const data = randomValues(2 * words, words).map((x, i) => x * 10 ** ((i % 61) - 30))
  // Ties to even, both ways; what rounds up to infinity; infinities; zeros.
  const hard = [1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.4e38, -Infinity, Infinity, 0, -0, 1e-40]
  data.set(hard.slice(0, 2 * words))
  const x = gpu.tensor('x', 'f32', [2 * words], { data })
  const halves = gpu.tensor('halves', 'bfloat16', [2 * words])
  const out = gpu.tensor('out', 'f32', [2 * words])
  await gpu.run(to_bfloat16, { words }, { x, out: halves })
  await gpu.run(from_bfloat16, { words }, { x: halves, out })
  const [bits, back] = await gpu.read(halves, out)
  const expected = encodeBfloat16(data)
  expect(bits).toEqual(expected)
  expect(back).toEqual(decodeBfloat16(expected))
})

test('NaN stays NaN', async () => {
  const nan = Uint32Array.of(0x7f800001, 0xffffffff)
  const x = gpu.tensor('x', 'f32', [2])
  gpu.write(x, new Float32Array(nan.buffer))
  const halves = gpu.tensor('halves', 'bfloat16', [2])
  await gpu.run(to_bfloat16, { words: 1 }, { x, out: halves })
  const [bits] = await gpu.read(halves)
  expect([...bits]).toEqual([0x7fc0, 0xffff])
})
