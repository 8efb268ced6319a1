import { describe, expect, test } from 'vitest'
import { foldGrid } from '../device/base/kernel.ts'
import { Gpu } from '../device/gpu.ts'
import { exact, HALF, LANES_UNIT } from '../matmul/testing.ts'
import { MATRIX_TILE, matrixSource } from '../matmul/tiles/matrix_source.ts'
import { expectClose, randomValues } from '../testing.ts'
import { decodeLinearRef } from './decode.ref.ts'
import { decode_linear } from './decode.ts'
import { MATRIX_FRAME, variants } from './decode_variants.ts'

const gpu = await Gpu.open()
const twins = variants as unknown as (typeof decode_linear)[]
const here = twins.filter(({ requires = [] }) =>
  requires.every((feature) => gpu.facts.features.includes(feature)),
)
/** The twin of matrix units with their part done by lanes. */
const byLanes = {
  ...decode_linear,
  name: 'decode_linear_matrices_by_lanes',
  wgsl: `enable subgroups;\n${matrixSource(MATRIX_FRAME, LANES_UNIT, exact)}`,
  requires: ['subgroups'] as const,
  workgroups: ({ m, n }: { m: number; n: number }) =>
    foldGrid(Math.ceil(m / MATRIX_TILE.rows) * Math.ceil(n / MATRIX_TILE.cols)),
}
const cases = [...here, byLanes].map((kernel): [string, typeof decode_linear] => [
  kernel.name,
  kernel,
])

// Up to 192 products of size one, added in f32; in matrix units of factors rounded to halves.
const closeTo = ({ name }: typeof decode_linear) =>
  name.endsWith('_f16') ? { atol: 192 * 2 * HALF, rtol: 2e-5 } : { atol: 2e-5, rtol: 2e-5 }

/** Rows in `endedRows` have ended and hold NaN. */
async function run(
  kernel: typeof decode_linear,
  [m, n, k]: readonly number[],
  { endedRows = [] as readonly number[], addend = [] as ArrayLike<number>, first_row = 0 } = {},
) {
  const aValues = randomValues((first_row + m) * k, k).subarray(first_row * k)
  const bValues = randomValues(n * k, n)
  const ended = new Uint32Array(m)
  for (const row of endedRows) {
    ended[row] = 1
    aValues.fill(Number.NaN, row * k, (row + 1) * k)
  }
  const a = gpu.tensor('a', 'f32', [m, k], { data: aValues })
  const has_addend = addend.length > 0 ? 1 : 0
  const added = gpu.tensor('addend', 'f32', [Math.max(1, addend.length)], {
    data: Float32Array.from(has_addend ? addend : [Number.NaN]),
  })
  const tensors = {
    a,
    b: gpu.tensor('b', 'f32', [n, k], { data: bValues }),
    addend: added,
    ended: gpu.tensor('ended', 'u32', [m], { data: ended }),
    out: gpu.tensor('out', 'f32', [m, n], { data: randomValues(m * n, 5) }),
  }
  const addend_stride = addend.length === n ? 0 : n
  await gpu.run(kernel, { m, n, k, has_addend, addend_stride }, tensors)
  const [actual] = await gpu.read(tensors.out)
  const truth = decodeLinearRef(aValues, bValues, { m, n, k }, has_addend ? addend : undefined)
  return { actual, truth }
}

describe.skipIf(!gpu.facts.has_subgroups).for(cases)('%s', ([, kernel]) => {
  const close = closeTo(kernel)

  test('is the product, with a residual, a bias or neither', async () => {
    // One; odd sizes; more than a tile in both directions; k of less than a slice each, and of
    // many.
    for (const size of [
      [1, 1, 4],
      [3, 5, 8],
      [33, 35, 68],
      [9, 40, 192],
    ]) {
      const [m, n] = size
      for (const count of [0, n, m * n]) {
        const { actual, truth } = await run(kernel, size, { addend: randomValues(count, 6) })
        expectClose(actual, truth, close)
      }
    }
  })

  test('a tile whose rows have all ended keeps what it held; an ended row beside a live one changes nothing', async () => {
    const [m, n, k] = [70, 20, 24]
    const live = [3, 40] // in tiles of up to 32 rows the third has none, and none of 64 the second
    const endedRows = Array.from({ length: m }, (_, row) => row).filter(
      (row) => !live.includes(row),
    )
    const { actual, truth } = await run(kernel, [m, n, k], { endedRows })
    const row = (x: Float32Array | Float64Array, i: number) => x.subarray(i * n, (i + 1) * n)
    for (const i of live) expectClose(row(actual, i), row(truth, i), close)
    const filled = randomValues(m * n, 5)
    for (let i = 64; i < m; i++) expect(row(actual, i)).toEqual(row(filled, i))
  })

  test('a row has the same bits in any batch and place', async () => {
    const [n, k] = [40, 100]
    const whole = (await run(kernel, [37, n, k])).actual
    for (const [first_row, m] of [
      [0, 1],
      [31, 3],
    ]) {
      const { actual } = await run(kernel, [m, n, k], { first_row })
      expect(actual).toEqual(whole.slice(first_row * n, (first_row + m) * n))
    }
  })

  test('a folded grid with an overhang computes the same', async () => {
    const size = [70, 40, 12]
    const folded = { ...kernel, workgroups: () => [23, 10] as const }
    expect((await run(folded, size)).actual).toEqual((await run(kernel, size)).actual)
  })
})
