import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { benchmarkConfig, runBenchmark } from './benchmark.ts'

test('the benchmark measures everything that its card shows', async () => {
  const gpu = await Gpu.open()
  const said: string[] = []
  const config = benchmarkConfig({ ...CONFIG, phases: [SFT, RL] })
  const numbers = await runBenchmark(gpu, config, (message) => said.push(message))
  for (const [name, value] of Object.entries(numbers)) {
    expect(value, name).toBeGreaterThan(0)
    expect(value, name).toBeLessThan(1e9)
  }
  expect(said.length).toBeGreaterThan(3)
  gpu.destroy()
})

test('a benchmark needs a phase of each kind', () => {
  expect(() => benchmarkConfig({ ...CONFIG, phases: [SFT] })).toThrow(/kind rl/)
})
