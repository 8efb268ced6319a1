// Counts what a run of preset tiny compiles before its first step: a software adapter spends most
// of its start on it.
import { expect, test } from 'vitest'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import { presetOf } from '../document/presets/presets.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { Trainer } from '../rl/train/trainer.ts'

test('the first step of preset tiny waits for its own kernels alone', async () => {
  const preset = presetOf('tiny')
  if (!preset) throw new Error('there is no preset tiny')
  const gpu = await Gpu.open({ joins: false })
  const told: string[] = []
  const config = trainerConfig(preset.experiment)
  const trainer = await Trainer.create(gpu, config, (message) => told.push(message))
  const first = { ...gpu.counts }
  expect(told.at(-1)).toBe(`Preparing: ${first.pipelines} parts ready`)
  await trainer.next()
  await trainer.next()
  await trainer.next()
  const all = { ...gpu.counts }
  // The losses of reinforcement come while the first step runs.
  expect([first.pipelines, all.pipelines]).toEqual([33, 36])
  expect(first.wgsl_bytes).toBeLessThan(120_000)
  await trainer.next()
  expect(gpu.counts.pipelines).toBe(all.pipelines)
  gpu.destroy()
})
