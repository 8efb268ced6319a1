// Products in matrix units. Adapters without such units run the same kernels with the units' part
// done by lanes: how factors come into workgroup memory, how results leave it and what rounding to
// halves changes are then those of the kernels themselves.
import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { matmulNtAddRef, matmulNtRef } from './matmul.ref.ts'
import { matmul_nt, matmul_nt_add } from './matmul.ts'
import { hasFeatures, matmulAgrees } from './matmul_tune.ts'
import type { MatmulSize, MatmulVariant } from './matmul_variants.ts'
import { MATRIX_VARIANTS } from './matrix_variants.ts'
import { exact, HALF, halved, LANES_UNIT } from './testing.ts'
import { type MatrixSteps, matrixSource, plainFrame } from './tiles/matrix_source.ts'

const gpu = await Gpu.open()
const all: readonly MatmulVariant[] = MATRIX_VARIANTS

const emulated = (op: 'nt' | 'nt_add', name: string, steps: MatrixSteps) => ({
  ...(op === 'nt' ? matmul_nt : matmul_nt_add),
  name: `matmul_${op}_matrices_${name}`,
  wgsl: `enable subgroups;\n${matrixSource(plainFrame(op), LANES_UNIT, steps)}`,
  constants: {},
  requires: ['subgroups'] as const,
  bindings: all[0].kernel(op).bindings,
  workgroups: all[0].kernel(op).workgroups,
})

const operands = ({ m, n, k }: MatmulSize) => ({
  a: randomValues(m * k, 1),
  b: randomValues(n * k, 2),
  old: randomValues(m * n, 3),
})

async function run(op: 'nt' | 'nt_add', name: string, steps: MatrixSteps, size: MatmulSize) {
  const { m, n, k } = size
  const values = operands(size)
  const upload = (label: string, data: Float32Array) =>
    gpu.tensor(label, 'f32', [data.length], { data })
  const [a, b, out] = [upload('a', values.a), upload('b', values.b), upload('out', values.old)]
  const kernel = emulated(op, name, steps)
  if (op === 'nt')
    await gpu.run(kernel as typeof matmul_nt, { ...size, accumulate: 1 }, { a, b, out })
  else {
    const addend = upload('addend', values.old.slice(0, n))
    const params = { m, n, k, addend_stride: 0 }
    await gpu.run(kernel as typeof matmul_nt_add, params, { a, b, addend, out })
  }
  return { ...values, out: (await gpu.read(out))[0] }
}

// One, less than a stage, one tile, one past it, several; k between stages.
const SIZES: MatmulSize[] = [
  { m: 1, n: 1, k: 4 },
  { m: 7, n: 13, k: 12 },
  { m: 64, n: 32, k: 16 },
  { m: 65, n: 33, k: 20 },
  { m: 130, n: 70, k: 52 },
]

describe.skipIf(!gpu.facts.has_subgroups)('around the units', () => {
  test.for(SIZES)('out [$m, $n] over $k is the reference’s', async (size) => {
    const { a, b, old, out } = await run('nt', 'exact', exact, size)
    const product = matmulNtRef(a, b, size)
    expectClose(
      out,
      product.map((x, i) => x + old[i]),
      { atol: 1e-5 },
    )
    const added = await run('nt_add', 'exact', exact, size)
    const bias = old.slice(0, size.n)
    expectClose(added.out, matmulNtAddRef(a, b, bias, { ...size, addend_stride: 0 }), {
      atol: 1e-5,
    })
  })

  test('factors rounded to halves change a result by two roundings of its terms at most', async () => {
    const size = { m: 65, n: 33, k: 52 }
    const { a, b, old, out } = await run('nt', 'halved', halved, size)
    const product = matmulNtRef(a, b, size)
    const terms = matmulNtRef(a.map(Math.abs), b.map(Math.abs), size)
    let largest = 0
    for (const [i, x] of out.entries()) {
      const error = Math.abs(x - product[i] - old[i])
      expect(error).toBeLessThanOrEqual((2 * HALF + HALF ** 2) * terms[i] + 1e-5)
      largest = Math.max(largest, error / terms[i])
    }
    // They were rounded.
    expect(largest).toBeGreaterThan(HALF / 10)
  })
})

const here = all.filter((variant) => hasFeatures(gpu, variant))

test.skipIf(here.length === 0).for(SIZES.filter(({ k }) => k % 4 === 0))(
  'in the units, [$m, $n] over $k agrees with the plain product',
  async (size) => {
    for (const variant of here)
      for (const op of ['nt', 'nt_add'] as const)
        expect(await matmulAgrees(gpu, { op, ...size }, variant), variant.name).toBe(true)
  },
)

test('a variant asks for the blocks that it multiplies, and says how it rounds', () => {
  const said = all.map(({ name, requires, rounding }) => [name, requires.at(-1), rounding])
  expect(said).toEqual([
    ['matrices_f16', 'subgroup-matrix-f16', HALF],
    ['matrices_f32', 'subgroup-matrix-f32', 0],
  ])
  for (const { supports } of all) {
    expect(supports('nt', { m: 3, n: 5, k: 8 })).toBe(true)
    expect(supports('nt', { m: 3, n: 5, k: 7 })).toBe(false)
    expect(supports('nn', { m: 4, n: 4, k: 4 }) || supports('tn', { m: 4, n: 4, k: 4 })).toBe(false)
  }
})
