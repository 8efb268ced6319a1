// Parameters in several buffers train as those in one do, and what a run never trains has no
// gradients and no moments.
import { describe, expect, test } from 'vitest'
import { MemoryPlan } from '../../kernels/device/base/tensor.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, REWARD_MODEL, RL, SFT } from '../testing.ts'
import { steeredEngine } from './engine.ts'
import { planMemory } from './parts/memory.ts'
import { finish, INNER, numbers, only, PPO } from './testing.ts'
import { Trainer } from './trainer.ts'

/** Less than a block takes. */
const SMALL = 4096

async function run(config: TrainerConfig, segmentBytes?: number) {
  const gpu = await Gpu.open(segmentBytes === undefined ? {} : { segmentBytes })
  const before = gpu.counts.live_bytes
  const trainer = await Trainer.create(gpu, config)
  const bytes = gpu.counts.live_bytes - before
  const memory = gpu.memory()
  const done = await finish(trainer)
  const state = await trainer.exportState()
  trainer.destroy()
  return { ...done, state, bytes, memory }
}

/** All but what counts dispatches. */
const measured = ({ results }: Pick<Awaited<ReturnType<typeof run>>, 'results'>) =>
  numbers(results).map(({ 'perf/dispatches': _, ...rest }) => rest)

const freeze = (layers: number[]) => ({ freeze: { embed_tokens: true, layers } })
/** Has a gradient also where all rewards are the same. */
const MOVING: RlPhase = { ...RL, actor: { ...RL.actor, entropy_coeff: 0.01, use_kl_loss: true } }
const MIDDLE: RlPhase = { ...MOVING, ...freeze([1, 3]), lr_factor_above: { layer: 2, factor: 0 } }

describe('several buffers', () => {
  const kl: RlPhase = { ...PPO, steps: 2, actor: { ...RL.actor, use_kl_loss: true } }
  const config = only(
    { ...SFT, steps: 1 },
    { ...REWARD_MODEL, steps: 1 },
    { ...INNER, steps: 1 },
    { ...kl, ...freeze([2]) },
  )

  test('have the bits of one, in a warm start, a reward model, an inner phase and PPO', async () => {
    const [one, many] = [await run(config), await run(config, SMALL)]
    expect(measured(many)).toEqual(measured(one))
    expect(many.state).toEqual(one.state)
    const plan = planMemory(config, new MemoryPlan(SMALL))
    expect(plan.total()).toBe(many.bytes)
    expect(many.memory.weights).toBe(plan.bytes.weights)
  })

  test.skipIf(!process.env.LONG_TESTS)('continue from the state of one', async () => {
    const states = []
    for (const [from, to] of [
      [undefined, SMALL],
      [SMALL, undefined],
    ]) {
      const first = await Trainer.create(await Gpu.open(from ? { segmentBytes: from } : {}), config)
      for (let i = 0; i < 4; i++) await first.next()
      const second = await Trainer.create(await Gpu.open(to ? { segmentBytes: to } : {}), config)
      second.importState(await first.exportState())
      first.destroy()
      await finish(second)
      states.push(await second.exportState())
      second.destroy()
    }
    expect(states[1]).toEqual(states[0])
  })
})

describe('a run that trains one block', () => {
  const config = only({ ...MIDDLE, steps: 3 })

  test('has gradients and moments of it alone, and the bits of one that has all', async () => {
    const L = CONFIG.model.num_hidden_layers
    const all = { ...config, trainedBefore: Array(L + 2).fill(true) }
    const [block, whole] = [await run(config), await run(all)]
    expect(measured(block)).toEqual(measured(whole))
    expect(block.state).toEqual(whole.state)
    expect(block.bytes).toBe(planMemory(config).total())
    expect(block.memory.gradients).toBeLessThan(whole.memory.gradients / L)
    expect(block.memory.weights).toBeLessThan(whole.memory.weights)
  })

  test('changes nothing else', async () => {
    const trainer = await Trainer.create(await Gpu.open(), config)
    const before = unpackWeights(trainer.layout, await trainer.exportWeights())
    const { weights } = await finish(trainer)
    const after = unpackWeights(trainer.layout, weights)
    for (const { name } of trainer.layout.params)
      if (name.startsWith('model.layers.1.')) expect(after[name], name).not.toEqual(before[name])
      else expect(after[name], name).toEqual(before[name])
    trainer.destroy()
  })
})

describe('a frozen model in bfloat16', () => {
  // Of a width that takes the same kernels of the head in both.
  const config = (dtype: 'float32' | 'bfloat16'): TrainerConfig => ({
    ...only({ ...MIDDLE, steps: 3 }),
    model: { ...CONFIG.model, hidden_size: 22, dtype },
  })

  test.each(process.env.LONG_TESTS ? [undefined, 8192] : [8192])(
    'trains one block as its decoded weights do (%s)',
    async (most) => {
      const create = async (dtype: 'float32' | 'bfloat16') => {
        const gpu = await Gpu.open(most ? { segmentBytes: most } : {})
        const before = gpu.counts.live_bytes
        const trainer = await Trainer.create(gpu, config(dtype))
        const plan = planMemory(config(dtype), new MemoryPlan(most))
        expect(plan.total()).toBe(gpu.counts.live_bytes - before)
        expect(plan.bytes.weights).toBe(gpu.memory().weights)
        return { trainer, bytes: plan.bytes.weights }
      }
      const [packed, exact] = [await create('bfloat16'), await create('float32')]
      expect(packed.bytes).toBeLessThan(0.85 * exact.bytes)
      const first = await packed.trainer.exportWeights()
      exact.trainer.importWeights(first)
      const [a, b] = [await finish(packed.trainer), await finish(exact.trainer)]
      expect(measured(a)).toEqual(measured(b))
      expect(a.weights).toEqual(b.weights)
      expect(a.weights).not.toEqual(first)
      for (const { trainer } of [packed, exact]) trainer.destroy()
    },
  )

  test('continues from its state', async () => {
    const trainers = []
    for (let i = 0; i < 2; i++)
      trainers.push(await Trainer.create(await Gpu.open(), config('bfloat16')))
    const [first, second] = trainers
    await first.next()
    await first.next()
    second.importState(await first.exportState())
    for (const trainer of trainers) await finish(trainer)
    expect(await second.exportState()).toEqual(await first.exportState())
    for (const trainer of trainers) trainer.destroy()
  })
})

test('a run that comes to train less keeps what it has trained, also in a new trainer', async () => {
  const wide = only({ ...MOVING, steps: 6 })
  const narrow = only({ ...MIDDLE, steps: 6 })
  const engine = () => Gpu.open().then((gpu) => steeredEngine(gpu, undefined))
  const first = await (await engine()).create(wide)
  for (let i = 0; i < 3; i++) await first.next()
  const state = await first.exportState()
  expect(await first.adopt(narrow)).toBe(true)
  const second = await (await engine()).create(narrow, state)
  second.importState(state)
  for (const trainer of [first, second]) {
    await trainer.next()
    expect(await trainer.adopt(wide)).toBe(true)
  }
  const [a, b] = [await finish(first), await finish(second)]
  expect(b.weights).toEqual(a.weights)
  expect(a.weights).not.toEqual(state.actor.weights)
  for (const trainer of [first, second]) trainer.destroy()
})
