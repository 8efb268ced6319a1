// Steering vectors of a run: they alone are changed, a run with them resumes to the bit, and the
// file of them begins another.
import { expect, test } from 'vitest'
import { type SteeringVectors, steeringFile } from '../../model/interventions/steering.ts'
import { ownAdapter } from '../../model/layout/adapter_layout.ts'
import { modelShape } from '../../model/layout/config.ts'
import { modelHash } from '../../model/lenses/lens_file.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL } from '../testing.ts'
import { beginVectors } from './begin_vectors.ts'
import { planMemory } from './parts/memory.ts'
import { finish, INNER, numbers, rl, warmStart } from './testing.ts'
import { Trainer } from './trainer.ts'

const { hidden_size: C, num_hidden_layers: L } = CONFIG.model
const { WARM, shared } = await warmStart()
const config = (phases: TrainerConfig['phases'], layers: readonly number[] | null = null) => ({
  ...CONFIG,
  model: { ...CONFIG.model, steering_vectors: { layers } },
  phases,
})
const begun = async (of: TrainerConfig) => {
  const trainer = await Trainer.create(shared, of)
  trainer.importWeights(WARM)
  return trainer
}

test('a state moved to a new trainer leaves the run as it is, bit for bit, and the weights too', async () => {
  const of = config([{ ...INNER, steps: 1 }, rl({ steps: 2 })], [0, 1, L])
  const alone = await begun(of)
  const whole = await finish(alone)
  const end = await alone.exportState()
  shared.freeAll()
  const first = await begun(of)
  const results = [await first.next(), await first.next()]
  const state = structuredClone(await first.exportState())
  shared.freeAll()
  const second = await Trainer.create(shared, of)
  second.importState(state)
  results.push(...(await finish(second)).results)
  expect(numbers(results)).toEqual(numbers(whole.results))
  expect(await second.exportState()).toEqual(end)
  expect(end.actor.weights).toEqual(WARM)
  expect(end.reference).toBeUndefined()
  expect(end.actor.adapter?.some((x) => x !== 0)).toBe(true)
  shared.freeAll()
})

test('a run begins with the vectors of a file, times their strength; what is of another model is refused', async () => {
  const of = config([RL], [1, L])
  const own = ownAdapter(modelShape(of.model))
  if (!own) throw new Error('no vectors')
  const vectors = Array.from({ length: L + 1 }, (_, l) =>
    Float32Array.from({ length: C }, (_x, c) => l + c / C),
  )
  const sound = { model_hash: modelHash(WARM), made: 'by hand', vectors }
  const trainer = await begun(of)
  const begin = (file: SteeringVectors) =>
    beginVectors(trainer, { bytes: steeringFile(file), name: 'v', strength: -2 })
  await begin(sound)
  const { adapter } = (await trainer.exportState()).actor
  for (const layer of [1, L]) {
    const at = own.vectors[layer]?.offset ?? -1
    expect(adapter?.slice(at, at + C)).toEqual(vectors[layer].map((x) => -2 * x))
  }
  expect(adapter?.length).toBe(own.size)
  await expect(begin({ ...sound, model_hash: 'sha256-0' })).rejects.toThrow(
    'the vectors belong to the model sha256-0',
  )
  const broken = vectors.with(1, vectors[1].with(3, Number.NaN))
  await expect(begin({ ...sound, vectors: broken })).rejects.toThrow('expected a finite number')
  await expect(begin({ ...sound, vectors: vectors.slice(1) })).rejects.toThrow('another shape')
  shared.freeAll()
})

test('gradients are those of the vectors, and there is no second copy of the weights', () => {
  const bytes = (of: TrainerConfig) => planMemory(of).bytes
  const whole = bytes({ ...CONFIG, phases: [RL] })
  const steered = bytes(config([RL]))
  expect(steered.gradients).toBe(4 * L * Math.ceil(C / 64) * 64)
  expect(steered.weights).toBeLessThan(whole.weights)
  expect(steered.optimizer).toBeLessThan(whole.optimizer)
})

test.skipIf(!process.env.LONG_TESTS)('the reward rises', async () => {
  const optim = { ...RL.actor.optim, lr: 0.1 }
  const rollout = { ...RL.rollout, train_batch_size: 16, n: 8 }
  const trainer = await begun(config([rl({ steps: 40, rollout }, {}, { optim })]))
  const { results, weights } = await finish(trainer)
  const scores = results.flatMap(({ metrics }) => metrics['critic/score/mean'] ?? [])
  const mean = (x: number[]) => x.reduce((a, b) => a + b, 0) / x.length
  expect(weights).toEqual(WARM)
  // From 0.36 to 0.44 on lavapipe: 48 numbers of three vectors can do less than all weights.
  expect(mean(scores.slice(-6))).toBeGreaterThan(mean(scores.slice(0, 6)) + 0.03)
  shared.freeAll()
})
