// Preference phases whose pairs a reward model judges, the passes of their reference, and inner
// layers that learn.
import { afterAll, expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { CONFIG, OPTIM, REWARD_MODEL } from '../../testing.ts'
import { numbers } from '../moved/testing.ts'
import { planMemory } from '../parts/memory.ts'
import { Trainer } from '../trainer.ts'
import { preferencePhase } from './testing.ts'

const shared = Gpu.open()
afterAll(async () => (await shared).destroy())
const create = async (config: TrainerConfig) => Trainer.create(await shared, config)

const REWARD = { ...REWARD_MODEL, steps: 2 }

test('the reward model judges fresh pairs, the best and the worst of four, and a run continues to the bit', async () => {
  const phase = preferencePhase(
    { beta: 0.5 },
    {
      steps: 4,
      batch_size: 2,
      refresh_steps: 2,
      reward_model: { enable: true },
      pairs: { ...REWARD_MODEL.pairs, count: 6, held_out: 2, n: 4 },
    },
  )
  const config = { ...CONFIG, phases: [REWARD, phase] }
  const whole = await create(config)
  const results: ReturnType<typeof numbers>[] = []
  let disagrees = 0
  let seen: unknown
  while (!whole.isFinished) {
    results.push(numbers(await whole.next()))
    if (whole.phase !== 1 || whole.preferences === seen) continue
    seen = whole.preferences
    for (const { chosen, rejected } of whole.preferences?.training ?? []) {
      const rewards = [chosen.reward, rejected.reward]
      expect(rewards.every((x) => x !== undefined)).toBe(true)
      expect(chosen.reward ?? 0).toBeGreaterThan(rejected.reward ?? 0)
      if (chosen.score <= rejected.score) disagrees++
    }
  }
  // What the task scores alike, or the other way round: it is not the task that judges.
  expect(disagrees).toBeGreaterThan(0)
  const weights = await whole.exportWeights()
  const begun = await create(config)
  for (let i = 0; i < REWARD.steps + 2; i++) await begun.next()
  const other = await create(config)
  other.importState(await begun.exportState())
  const rest = []
  while (!other.isFinished) rest.push(numbers(await other.next()))
  expect(rest).toEqual(results.slice(-rest.length))
  expect(await other.exportWeights()).toEqual(weights)
})

test('memory is as planned where a reward model judges', async () => {
  const gpu = await Gpu.open()
  const before = gpu.counts.live_bytes
  const pairs = { ...REWARD_MODEL.pairs, count: 40, n: 5 }
  const phase = preferencePhase({}, { reward_model: { enable: true }, pairs })
  const config = { ...CONFIG, phases: [REWARD, phase] }
  const trainer = await Trainer.create(gpu, config)
  expect(gpu.counts.live_bytes - before).toBe(planMemory(config).total())
  trainer.destroy()
})

test('the reference reads an answer once, in whatever step it comes', async () => {
  // Four pairs, all of them in every step, and no held-out ones.
  const dispatches = async (loss_type: 'sigmoid' | 'simpo') => {
    const pairs = { ...REWARD_MODEL.pairs, count: 4, held_out: 0 }
    const phase = preferencePhase({ loss_type }, { steps: 4, pairs })
    const trainer = await create({ ...CONFIG, probe: { freq: null, rows: 8 }, phases: [phase] })
    await trainer.next()
    const counts: number[] = []
    while (!trainer.isFinished) counts.push((await trainer.next()).metrics['perf/dispatches'])
    return counts
  }
  const [first, ...later] = await dispatches('sigmoid')
  const [free, ...none] = await dispatches('simpo')
  // A later step dispatches what a loss without a reference does, and the first one a pass more.
  expect(new Set(later)).toEqual(new Set(none))
  expect(first - free).toBeGreaterThan(10)
})

test('an inner layer learns preferences', async () => {
  const change = { steps: 12, target_layer: 2, optim: { ...OPTIM, lr: 5e-3 } }
  const trainer = await create({ ...CONFIG, phases: [preferencePhase({ beta: 0.5 }, change)] })
  const series: Record<string, number>[] = []
  while (!trainer.isFinished) series.push((await trainer.next()).metrics)
  const taught = series.filter((metrics) => 'rewards/margins' in metrics)
  expect(taught).toHaveLength(12)
  expect(taught[0]['rewards/margins']).toBe(0)
  expect(taught[11]['rewards/margins']).toBeGreaterThan(0.1)
  expect(taught[11]['rewards/accuracies']).toBeGreaterThanOrEqual(0.75)
  expect(taught[11]['preference/loss']).toBeLessThan(taught[0]['preference/loss'] - 0.05)
})
