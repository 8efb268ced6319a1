import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { probeSpeed } from './speed.ts'

test('the speed of small steps is sane, and the probe leaves nothing behind', async () => {
  const gpu = await Gpu.open()
  // The first readback makes a buffer that the next ones use again.
  await probeSpeed(gpu)
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

test('a machine too busy for a rate has a finite speed', async () => {
  const gpu = await Gpu.open()
  const { gflops } = await probeSpeed(gpu, 0)
  expect(gflops).toBeGreaterThan(0)
  expect(Number.isFinite(gflops)).toBe(true)
  gpu.destroy()
})
