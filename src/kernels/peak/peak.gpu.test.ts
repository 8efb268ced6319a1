import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { expectClose, randomValues } from '../testing.ts'
import { peakFmaRef } from './peak.ref.ts'
import { peak_copy, peak_fma, probePeak } from './peak.ts'

const gpu = await Gpu.open()

test('peak_fma does every multiply-add that it is credited with', async () => {
  const params = { iterations: 7, scale: 0.96875, offset: 0.25 }
  const invocations = 300
  const out = gpu.tensor('out', 'f32', [invocations])
  await gpu.run(peak_fma, { invocations, ...params }, { out })
  const expected = Array.from({ length: invocations }, (_, i) => peakFmaRef(i, params))
  // 28 roundings of values up to 80, added up sixteen times.
  expectClose((await gpu.read(out))[0], expected, { atol: 1e-3, rtol: 1e-5 })
})

test('peak_copy copies, and nothing beyond its count', async () => {
  const data = randomValues(4 * 301, 1)
  const source = gpu.tensor('source', 'f32', [data.length], { data })
  const copied = gpu.tensor('copied', 'f32', [data.length])
  await gpu.run(peak_copy, { quads: 300 }, { source, copied })
  const [values] = await gpu.read(copied)
  expect(values.slice(0, 1200)).toEqual(data.slice(0, 1200))
  expect([...values.slice(1200)]).toEqual([0, 0, 0, 0])
})

test.for([true, false])('the peaks are sane, with timestamps: %s', async (timestamps) => {
  const own = await Gpu.open({ timestamps })
  const before = own.counts.live_bytes
  const { gflops, gbps } = await probePeak(own)
  // One slow core does more than 0.05 GFLOP/s; no machine of these years copies 100 TB/s.
  expect(gflops).toBeGreaterThan(0.05)
  expect(gflops).toBeLessThan(1e6)
  expect(gbps).toBeGreaterThan(0.05)
  expect(gbps).toBeLessThan(1e5)
  expect(own.counts.live_bytes).toBe(before)
  own.destroy()
})
