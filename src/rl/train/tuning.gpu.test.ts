// What is measured beside a run: one variant at a time, on another device.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { tuneBeside } from './tuning.ts'

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
