import { expect, test, vi } from 'vitest'
import { collect } from '../../kernels/device/base/program.ts'
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

test('on a GPU it times the products that a run begins on', async () => {
  const gpu = await Gpu.open()
  Object.assign(gpu, { facts: { ...gpu.facts, is_software: false, features: [] } })
  const recorded: string[] = []
  const { record } = gpu
  vi.spyOn(gpu, 'record').mockImplementation((label, live, build) => {
    for (const command of collect(label, build))
      if (command.kind === 'dispatch') recorded.push(command.kernel.name)
    return record.call(gpu, label, live, build as never) as never
  })
  const config = benchmarkConfig({ ...CONFIG, phases: [SFT, RL] })
  const untilTraining = (message: string) => {
    if (message.startsWith('Preparing')) throw new Error('far enough')
  }
  await expect(runBenchmark(gpu, config, untilTraining)).rejects.toThrow('far enough')
  expect(recorded.filter((name) => name.startsWith('matmul'))).toEqual([
    'matmul_nt_slices_32x32',
    'matmul_nt_slices_32x32',
  ])
  gpu.destroy()
})

test('a benchmark needs a phase of each kind', () => {
  expect(() => benchmarkConfig({ ...CONFIG, phases: [SFT] })).toThrow(/kind rl/)
})
