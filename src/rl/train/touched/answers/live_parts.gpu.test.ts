// A run whose parts are switched off while it trains: the numbers are those of a kept state, no bit
// of the run changes, and it costs its share.
import { expect, test } from 'vitest'
import { Gpu } from '../../../../kernels/device/gpu.ts'
import { partsOf } from '../../../../model/interventions/parts.ts'
import { modelShape } from '../../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../../model/layout/params.ts'
import { createModel, uploadModel } from '../../../../model/transformer/model.ts'
import { PARTS_SHARE } from '../../../look/moments.ts'
import type { PartCosts } from '../../../look/observation.ts'
import { NO_OBSERVATION } from '../../../look/observation.ts'
import { BUPO, numbers } from '../../../look/testing.ts'
import { CONFIG, RL, SFT } from '../../../testing.ts'
import type { StepResult } from '../../parts/step_result.ts'
import { Trainer } from '../../trainer.ts'
import { LiveParts } from './live_parts.ts'
import { partCosts } from './part_costs.ts'

const config = { ...CONFIG, phases: [RL] }
const layout = paramLayout(modelShape(config.model))
const weights = initialWeights(layout, 3)

const valuesOf = ({ untouched, parts }: PartCosts) =>
  [{ ...untouched, parts: [] }, ...parts].flatMap((one) =>
    Object.values(one)
      .flat()
      .flatMap((value) => (typeof value === 'object' ? Object.values(value) : value))
      .filter((value) => typeof value === 'number'),
  )

// The same rows in other batches: kernels may sum them in another order.
const TOLERANCE = 5

test('several parts in one pass, each off in rows of its own, cost what each costs alone', async () => {
  for (const batchRows of [8, 64, 1000]) {
    const gpu = await Gpu.open()
    const model = createModel(gpu, layout)
    uploadModel(gpu, model, weights)
    const live = await LiveParts.create(gpu, config, model, batchRows)
    const before = gpu.counts.dispatches
    const found = await live.measure()
    expect(gpu.counts.dispatches - before).toBeLessThanOrEqual(live.dispatches)
    const alone = await partCosts(gpu, { config, layout, weights }, found.problems)
    gpu.destroy()
    expect(found.parts.map(({ where, layer, head }) => [where, layer, head])).toEqual(
      partsOf(layout.shape).map(({ where, layer, head }) => [where, layer, head]),
    )
    const [own, expected] = [valuesOf(found), valuesOf(alone)]
    expect(own).toHaveLength(expected.length)
    for (const [i, value] of own.entries()) expect(value).toBeCloseTo(expected[i], TOLERANCE)
    expect(found.parts.some(({ log_prob }) => (log_prob?.mean ?? 0) !== 0)).toBe(true)
  }
})

/** A whole run, and what it took. */
async function counted(parts: boolean) {
  const gpu = await Gpu.open()
  // As many rows as take all parts at once.
  const rollout = { ...RL.rollout, train_batch_size: 64 }
  const actor = { ...RL.actor, ppo_mini_batch_size: 32 }
  const phases = [
    { ...SFT, steps: 40, batch_size: 256 },
    { ...RL, steps: 20, rollout, actor },
  ]
  const validation = { test_freq: 10, prompts: 10, n: 0 }
  const trainer = await Trainer.create(gpu, { ...BUPO, phases, validation })
  await trainer.prepareLater()
  trainer.observe({ ...NO_OBSERVATION, parts })
  const { dispatches } = gpu.counts
  const results: StepResult[] = []
  while (!trainer.isFinished) results.push(await trainer.next())
  const trained = await trainer.exportWeights()
  const { dispatches: all } = gpu.counts
  trainer.observe(NO_OBSERVATION)
  const { probes } = gpu.memory()
  trainer.destroy()
  return { results, trained, probes, dispatches: all - dispatches }
}

test.skipIf(!process.env.LONG_TESTS)(
  'a run that is asked what its parts do says so after validations, within its share, and keeps its bits',
  async () => {
    const plain = await counted(false)
    const asked = await counted(true)
    expect(numbers(asked.results)).toEqual(numbers(plain.results))
    expect(asked.trained).toEqual(plain.trained)
    const measured = asked.results.filter(({ observation }) => observation)
    expect(measured.length).toBeGreaterThan(0)
    for (const { step, observation } of measured) {
      expect(step % 10).toBe(0)
      expect(observation?.refused).toBeUndefined()
      expect(observation?.parts?.parts).toHaveLength(partsOf(modelShape(BUPO.model)).length)
    }
    const share = (asked.dispatches - plain.dispatches) / plain.dispatches
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThanOrEqual(PARTS_SHARE)
    // What is not asked for any more takes no memory.
    expect(asked.probes).toBe(plain.probes)
  },
)
