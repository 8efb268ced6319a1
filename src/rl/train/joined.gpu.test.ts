// A run whose independent dispatches run as one has the bits of a run in which each runs alone.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import { Trainer } from './trainer.ts'

async function train(joins: boolean) {
  const gpu = await Gpu.open({ joins })
  const config = {
    ...CONFIG,
    model: { ...CONFIG.model, num_hidden_layers: 1 },
    phases: [
      { ...SFT, steps: 1 },
      { ...RL, steps: 1, target_layer: 1 },
    ],
  }
  const trainer = await Trainer.create(gpu, config)
  const { dispatches } = gpu.counts
  const results: Record<string, number>[] = []
  while (!trainer.isFinished) {
    const { metrics } = await trainer.next()
    const kept = Object.entries(metrics).filter(([name]) => !/^(timing_|perf\/)/.test(name))
    results.push(Object.fromEntries(kept))
  }
  const weights = await trainer.exportWeights()
  const started = gpu.counts.dispatches - dispatches
  trainer.destroy()
  gpu.destroy()
  return { results, weights, started }
}

// Software adapters take half a minute to compile the joined kernels.
test.skipIf(!process.env.LONG_TESTS)('joined dispatches train the same bits', async () => {
  const [apart, joined] = [await train(false), await train(true)]
  expect(joined.results).toEqual(apart.results)
  expect(joined.weights).toEqual(apart.weights)
  expect(joined.started).toBeLessThan(apart.started * 0.9)
})
