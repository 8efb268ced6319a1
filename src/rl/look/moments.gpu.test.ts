// A run that is looked at in its moments: no bit of it changes, nothing is created in a step, and
// it costs a share.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { RL, SFT } from '../testing.ts'
import type { StepResult } from '../train/parts/step_result.ts'
import { Trainer } from '../train/trainer.ts'
import { MOMENTS_SHARE } from './moments.ts'
import { NO_OBSERVATION } from './observation.ts'
import { BUPO, GROUPS, INNER, numbers } from './testing.ts'

const CONFIG = {
  ...BUPO,
  phases: [{ ...SFT, steps: 20 }, INNER, { ...RL, steps: 38 }],
  validation: { test_freq: 10, prompts: 10, n: 2 },
  probe: { freq: 1, rows: 8, internals: false },
}

/** A whole run, and what it took after its first step. */
async function counted(moments: boolean) {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, CONFIG)
  await trainer.prepareLater()
  if (moments) trainer.observe({ ...NO_OBSERVATION, moments })
  const { dispatches } = gpu.counts
  const results: StepResult[] = [await trainer.next(), await trainer.next()]
  const { bind_groups, pipelines, buffers } = gpu.counts
  while (!trainer.isFinished) results.push(await trainer.next())
  const made = {
    bind_groups: gpu.counts.bind_groups - bind_groups,
    pipelines: gpu.counts.pipelines - pipelines,
    buffers: gpu.counts.buffers - buffers,
  }
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, weights, made, dispatches: gpu.counts.dispatches - dispatches }
}

// observer.gpu.test.ts has the bits of a run that is observed at every step, and
// e2e/observe.spec.ts what moments leave on the page.
test.skipIf(!process.env.LONG_TESTS)(
  'moments show every figure, the lens and a step’s tokens, cost their share, and change no bit of the run',
  async () => {
    const plain = await counted(false)
    const seen = await counted(true)
    expect(numbers(seen.results)).toEqual(numbers(plain.results))
    expect(seen.weights).toEqual(plain.weights)
    expect(seen.made).toEqual(plain.made)
    expect(seen.made.buffers).toBe(0)

    const moments = seen.results.filter(({ isMoment }) => isMoment)
    expect(seen.results.filter(({ observation }) => observation)).toEqual(moments)
    // Every step of the short inner phase is one, whatever the share allows.
    expect(moments.map(({ step }) => step)).toEqual(expect.arrayContaining([20, 21, 22]))
    for (const { observation, trace, samples } of moments) {
      for (const group of GROUPS) expect(observation?.cost_ms[group]).toBeDefined()
      expect(observation?.lenses).toHaveLength(4)
      expect(trace !== undefined).toBe(samples.length > 0)
    }
    const extra = seen.dispatches - plain.dispatches
    const others = moments.length - INNER.steps
    const share = (extra * (others / moments.length)) / plain.dispatches
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThanOrEqual(MOMENTS_SHARE)
  },
)
