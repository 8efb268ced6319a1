import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { probeSpeed } from './speed.ts'

test('the speed of small steps is sane, and the probe leaves nothing behind', async () => {
  const gpu = await Gpu.open()
  const before = gpu.counts.live_bytes
  const { dispatch_ms, round_ms, gflops } = await probeSpeed(gpu)
  // From a large GPU to one slow core.
  expect(dispatch_ms).toBeGreaterThan(1e-5)
  expect(dispatch_ms).toBeLessThan(20)
  expect(round_ms).toBeGreaterThan(1e-3)
  expect(round_ms).toBeLessThan(1000)
  expect(gflops).toBeGreaterThan(0.05)
  expect(gflops).toBeLessThan(1e6)
  expect(gpu.counts.live_bytes).toBe(before)
  gpu.destroy()
})
