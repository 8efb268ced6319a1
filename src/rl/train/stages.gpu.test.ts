// Tests what neighbouring phases of reinforcement share, and what begins again with each.
import { afterAll, expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import type { KlControllerConfig } from '../config/algorithm.ts'
import type { Phase, RlPhase } from '../config/phase.ts'
import { CONFIG, RL } from '../testing.ts'
import type { StepResult } from './parts/step_result.ts'
import { Trainer } from './trainer.ts'

const gpu = await Gpu.open()
afterAll(() => gpu.destroy())

const KL_CTRL: KlControllerConfig = { type: 'adaptive', kl_coef: 0.1, horizon: 160, target_kl: 0.5 }
const held = (steps: number, klCtrl: Partial<KlControllerConfig> = {}): RlPhase => ({
  ...RL,
  steps,
  algorithm: { ...RL.algorithm, use_kl_in_reward: true, kl_ctrl: { ...KL_CTRL, ...klCtrl } },
})
const free = (steps: number): RlPhase => ({ ...RL, steps })

const configOf = (phases: readonly Phase[]) => ({
  ...CONFIG,
  phases,
  validation: { ...CONFIG.validation, test_freq: null },
})

/** Runs phases; `moves` into another trainer after every step. */
async function run(phases: readonly Phase[], moves = false): Promise<StepResult[]> {
  let trainer = await Trainer.create(gpu, configOf(phases))
  const results: StepResult[] = []
  while (!trainer.isFinished) {
    results.push(await trainer.next())
    if (!moves) continue
    const state = await trainer.exportState()
    trainer = await Trainer.create(gpu, configOf(phases))
    trainer.importState(state)
  }
  return results
}

const series = (results: readonly StepResult[], name: string) =>
  results.flatMap(({ metrics }) => metrics[name] ?? [])
const coefficients = (results: readonly StepResult[]) =>
  series(results, 'actor/reward_kl_penalty_coeff')
const numbers = (results: readonly StepResult[]) =>
  results.map(({ step, metrics }) => [
    step,
    Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  ])

test('an adaptive KL continues over the switch of phases: two of them are one run of verl', async () => {
  const one = await run([held(3)])
  // It moves, so that beginning again would show.
  expect(new Set(coefficients(one)).size).toBe(3)
  expect(numbers(await run([held(2), held(1)]))).toEqual(numbers(one))
  expect(numbers(await run([held(2), held(1)], true))).toEqual(numbers(one))
})

test('other settings are adopted with the value, a new coefficient begins again, and a phase without KL leaves it alone', async () => {
  const [first, second, third] = coefficients(await run([held(3)]))
  const shorter = coefficients(await run([held(2), held(2, { horizon: 80 })]))
  expect(shorter.slice(0, 3)).toEqual([first, second, third])
  // Far below its target it falls by a fifth of 16 responses / horizon.
  expect(shorter[3] / shorter[2]).toBeCloseTo(1 - (0.2 * 16) / 80, 9)
  const fresh = coefficients(await run([held(2), held(1, { kl_coef: 0.3 })]))
  expect(fresh).toEqual([first, second, 0.3])
  const between = [held(2), free(1), held(1)]
  for (const moves of [false, true])
    expect(coefficients(await run(between, moves))).toEqual([first, second, third])
})

test('a phase continues with the schedule of the one before it, unless it resets the schedule', async () => {
  // The rate does not depend on what is sampled.
  const rollout = { ...RL.rollout, train_batch_size: 2, n: 2, max_response_length: 1 }
  const rate = (steps: number, change: Partial<RlPhase> = {}): RlPhase => {
    const optim = { ...RL.actor.optim, lr: 1, lr_warmup_steps: 2 }
    return { ...free(steps), rollout, actor: { ...RL.actor, optim }, ...change }
  }
  const rates = async (phases: readonly Phase[], moves = false) =>
    series(await run(phases, moves), 'actor/lr')
  expect(await rates([rate(3), rate(3)])).toEqual([0, 0.5, 1, 1, 1, 1])
  const again = [rate(3), rate(2, { reset_schedule: true }), rate(2)]
  for (const moves of [false, true])
    expect(await rates(again, moves)).toEqual([0, 0.5, 1, 0, 0.5, 1, 1])
  // The warm-up is the schedule's: one of a later phase changes nothing.
  const { actor } = rate(1)
  const longer = { ...actor, optim: { ...actor.optim, lr_warmup_steps: 50 } }
  expect(await rates([rate(3), rate(2, { actor: longer })])).toEqual([0, 0.5, 1, 1, 1])
  const cosine = { ...actor, optim: { ...actor.optim, lr_scheduler_type: 'cosine' as const } }
  const falling = await rates([rate(3), rate(4, { actor: cosine, reset_schedule: true })])
  expect(falling.slice(3)).toEqual([0, 0.5, 1, 0.5])
})
