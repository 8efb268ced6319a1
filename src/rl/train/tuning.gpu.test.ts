// Tests measurements beside a run: one variant at a time, on another device. A variant that claims
// matrix units is tried before it.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { chosenVariant, type MatmulVariant } from '../../kernels/matmul/matmul_variants.ts'
import { CONFIG } from '../testing.ts'
import { checkMatrices, tuneBeside } from './tuning.ts'

test('measures one variant at each turn, leaves settled classes and the run’s device alone, and ends when its caller stops', async () => {
  const gpu = await Gpu.open()
  const products = [
    { op: 'nn', m: 64, n: 64, k: 64 },
    { op: 'nn', m: 32, n: 16, k: 8 },
  ] as const
  const before = { ...gpu.counts }
  const all = tuneBeside(gpu, products, { nn_m64_n64_k64: 'vector_4x4' })
  const seen: (readonly [number, number, string[]])[] = []
  for await (const { done, of, choice } of all) seen.push([done, of, Object.keys(choice)])
  const [, of] = seen[0]
  expect(of).toBeGreaterThan(1)
  expect(seen.map(([done]) => done)).toEqual(Array.from({ length: of }, (_, i) => i + 1))
  // The class has its variant once all of its candidates are measured.
  expect(seen.map(([, , classes]) => classes.length)).toEqual([...Array(of - 1).fill(1), 2])
  expect(gpu.counts).toEqual(before)

  const some = tuneBeside(gpu, products, {})
  await some.next()
  await some.return()
  expect(await some.next()).toEqual({ done: true, value: undefined })
  gpu.destroy()
})

/** The default's kernels as if they were matrix units', with a part of the source replaced; counts
 * the products. */
function claimed(from = '', to = '') {
  const seen = { products: 0 }
  const variantOf: typeof chosenVariant = (_, op, size) => {
    const plain = chosenVariant(undefined, op, size)
    if (op !== 'nt' && op !== 'nt_add') return plain
    const { wgsl, ...rest } = plain.kernel(op)
    seen.products++
    const kernel = { ...rest, name: `${rest.name}_${to}`, wgsl: wgsl.replaceAll(from, to) }
    return { ...plain, name: 'claimed', rounding: 0, kernel: () => kernel } as MatmulVariant
  }
  return { seen, variantOf }
}

const pinned = { ...CONFIG, matmul: { '*': 'vector_4x4' } }

test('kernels that claim matrix units may run where they agree with the default', async () => {
  const gpu = await Gpu.open()
  const { seen, variantOf } = claimed()
  await checkMatrices(gpu, pinned, variantOf)
  expect(seen.products).toBeGreaterThan(1)
  await checkMatrices(gpu, pinned)
})

test('and are refused where they do not, with what to do', async () => {
  const gpu = await Gpu.open()
  const { variantOf } = claimed('a0.x * b0.x', 'a0.y')
  await expect(checkMatrices(gpu, pinned, variantOf)).rejects.toThrow(
    /claimed gives other products.*Take it out/,
  )
})

test('nothing is asked where nothing is pinned', async () => {
  const gpu = await Gpu.open()
  const { seen, variantOf } = claimed()
  await checkMatrices(gpu, CONFIG, variantOf)
  expect(seen.products).toBe(0)
})
