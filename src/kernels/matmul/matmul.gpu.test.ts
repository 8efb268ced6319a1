import { describe, expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { matmulNnRef, matmulNtAddRef, matmulNtRef, matmulTnRef } from './matmul.ref.ts'
import { matmul_nn, matmul_nt, matmul_nt_add, matmul_tn } from './matmul.ts'

const gpu = await Gpu.open()

const upload = (label: string, data: Float32Array) =>
  gpu.tensor(label, 'f32', [data.length], { data })

/** Runs a product on `out` as it is and returns the result. */
async function run(
  kernel: typeof matmul_nn,
  [m, n, k]: readonly [number, number, number],
  { a, b, out, accumulate = 0 }: Record<'a' | 'b' | 'out', Float32Array> & { accumulate?: number },
): Promise<Float32Array> {
  const tensors = { a: upload('a', a), b: upload('b', b), out: upload('out', out) }
  await gpu.run(kernel, { m, n, k, accumulate }, tensors)
  return (await gpu.read(tensors.out))[0]
}

// A sum of k products of values below one: up to k roundings of a partial sum of about sqrt(k) / 3.
const tolerance = (k: number) => ({ atol: 1e-7 * k + 1e-6, rtol: 1e-5 })

// One, primes, a vector of one row, exactly one tile, one past it, several tiles.
const sizes: [number, number, number][] = [
  [1, 1, 1],
  [7, 13, 5],
  [1, 97, 31],
  [64, 64, 64],
  [65, 65, 65],
  [130, 67, 3],
  [3, 5, 301],
]

describe.for([
  ['matmul_nn', matmul_nn, matmulNnRef],
  ['matmul_nt', matmul_nt, matmulNtRef],
  ['matmul_tn', matmul_tn, matmulTnRef],
] as const)('%s', ([, kernel, reference]) => {
  test.for(sizes)('matches the reference at m %i, n %i, k %i', async ([m, n, k]) => {
    const [a, b] = [randomValues(m * k, m + k), randomValues(k * n, 1000 + n + k)]
    const out = randomValues(m * n, 3)
    const expected = reference(a, b, { m, n, k })
    expectClose(await run(kernel, [m, n, k], { a, b, out }), expected, tolerance(k))
    const added = await run(kernel, [m, n, k], { a, b, out, accumulate: 1 })
    expectClose(
      added,
      expected.map((x, i) => x + out[i]),
      tolerance(k),
    )
  })
})

describe('matmul_nt_add', () => {
  test.for([
    ['a residual', 33],
    ['a bias', 0],
  ] as const)('adds %s', async ([, addend_stride]) => {
    const shape = { m: 70, n: 33, k: 17, addend_stride }
    const [a, b] = [randomValues(shape.m * shape.k, 1), randomValues(shape.n * shape.k, 2)]
    const addend = randomValues(addend_stride ? shape.m * shape.n : shape.n, 3)
    const out = gpu.tensor('out', 'f32', [shape.m, shape.n])
    const tensors = { a: upload('a', a), b: upload('b', b), addend: upload('addend', addend), out }
    await gpu.run(matmul_nt_add, shape, tensors)
    const expected = matmulNtAddRef(a, b, addend, shape)
    expectClose((await gpu.read(out))[0], expected, tolerance(shape.k))
  })
})

test.for([
  ['matmul_nn', matmul_nn],
  ['matmul_nt', matmul_nt],
] as const)('%s gives a row the same bits in any batch and place', async ([, kernel]) => {
  const [m, n, k] = [131, 70, 97]
  const [a, b] = [randomValues(m * k, 1), randomValues(k * n, 2)]
  const whole = await run(kernel, [m, n, k], { a, b, out: new Float32Array(m * n) })
  for (const [first, count] of [
    [0, 1],
    [66, 3],
    [127, 4],
  ]) {
    const rows = a.slice(first * k, (first + count) * k)
    const out = new Float32Array(count * n)
    const part = await run(kernel, [count, n, k], { a: rows, b, out })
    expect(part).toEqual(whole.slice(first * n, (first + count) * n))
  }
})

test('a grid folded into two dimensions covers every tile', async () => {
  const [m, n, k] = [130, 70, 5] // 6 tiles
  const [a, b] = [randomValues(m * k, 1), randomValues(k * n, 2)]
  const folded = { ...matmul_nt, workgroups: () => [4, 2] as const }
  const result = await run(folded, [m, n, k], { a, b, out: new Float32Array(m * n) })
  expectClose(result, matmulNtRef(a, b, { m, n, k }), tolerance(k))
})
