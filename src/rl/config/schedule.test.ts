import { expect, test } from 'vitest'
import { expectClose } from '../../kernels/testing.ts'
import type { Optim } from './optim.ts'
import type { Phase, RlPhase, SftPhase } from './phase.ts'
import {
  constantMultiplier,
  cosineMultiplier,
  klSettings,
  learningRate,
  scheduledOptim,
  scheduleSteps,
  warmupSteps,
  wsdMultiplier,
} from './schedule.ts'

const optim: Optim = {
  lr: 2,
  lr_warmup_steps: 4,
  lr_scheduler_type: 'constant',
  min_lr_ratio: 0,
  betas: [0.9, 0.999],
  weight_decay: 0,
}
const rates = (o: Optim, total: number) =>
  Array.from({ length: total }, (_, step) => learningRate(o, step, total))

test('the warm-up starts at exactly 0 and reaches the peak after its steps', () => {
  expect(rates(optim, 6)).toEqual([0, 0.5, 1, 1.5, 2, 2])
  expect(learningRate({ ...optim, lr_warmup_steps: 0 }, 0, 6)).toBe(2)
})

test('the cosine falls from the peak to its floor over the rest', () => {
  const cosine = {
    ...optim,
    lr_scheduler_type: 'cosine',
    lr_warmup_steps: 0,
    min_lr_ratio: 0.1,
  } as const
  const half = (1 - 0.1) / 2
  const at = (p: number) => 2 * (Math.cos(Math.PI * p) * half + (1 + 0.1) / 2)
  expectClose(rates(cosine, 4), [2, at(0.25), at(0.5), at(0.75)], { rtol: 1e-12 })
  expect(learningRate(cosine, 4, 4)).toBeCloseTo(0.2, 12)
})

test('neighbouring phases of one kind share a schedule', () => {
  const sft = { kind: 'sft', steps: 5 } as SftPhase
  const rl = (steps: number) => ({ kind: 'rl', steps }) as Phase
  const phases = [sft, rl(3), rl(4), sft, rl(2)]
  expect(phases.map((_, i) => scheduleSteps(phases, i))).toEqual([5, 7, 7, 5, 2])
})

test('a phase that resets the schedule begins its own, which later phases continue with', () => {
  const phase = (steps: number, warmup: number, reset_schedule = false): Phase => ({
    ...({ kind: 'rl', steps } as RlPhase),
    reset_schedule,
    actor: { optim: { ...optim, lr: steps, lr_warmup_steps: warmup } } as RlPhase['actor'],
    critic: { optim: { ...optim, lr: 1, lr_warmup_steps: 2 * warmup } } as RlPhase['critic'],
  })
  const phases = [phase(3, 1), phase(4, 9), phase(5, 2, true), phase(6, 9)]
  expect(phases.map((_, i) => scheduleSteps(phases, i))).toEqual([7, 7, 11, 11])
  const warmups = (of: 'actor' | 'critic') =>
    phases.map((_, i) => scheduledOptim(phases, i, of).lr_warmup_steps)
  // The warm-up is the schedule's; the peak is each phase's own.
  expect(warmups('actor')).toEqual([1, 1, 2, 2])
  expect(warmups('critic')).toEqual([2, 2, 4, 4])
  expect(phases.map((_, i) => scheduledOptim(phases, i).lr)).toEqual([3, 4, 5, 6])
})

test('the KL controller belongs to the last phase of the stage that has a KL in the reward', () => {
  const sft = { kind: 'sft', steps: 5 } as SftPhase
  const rl = (use_kl_in_reward: boolean, kl_coef: number) =>
    ({ kind: 'rl', steps: 1, algorithm: { use_kl_in_reward, kl_ctrl: { kl_coef } } }) as Phase
  const phases = [rl(false, 1), rl(true, 2), rl(false, 3), rl(true, 4), sft, rl(false, 5)]
  expect(phases.map((_, i) => klSettings(phases, i)?.kl_coef)).toEqual([
    undefined,
    2,
    2,
    4,
    undefined,
    undefined,
  ])
})

test('a negative number of warm-up steps means a share of all steps, rounded down', () => {
  expect(warmupSteps({ lr_warmup_steps: null, lr_warmup_steps_ratio: 0.3 }, 9)).toBe(2)
  expect(warmupSteps({ lr_warmup_steps: null }, 9)).toBe(0)
  expect(warmupSteps({ lr_warmup_steps: 0, lr_warmup_steps_ratio: 0.3 }, 9)).toBe(0)
  const shared = { ...optim, lr_warmup_steps: null, lr_warmup_steps_ratio: 0.5 }
  expect([0, 1, 2, 3].map((step) => learningRate(shared, step, 4))).toEqual([0, 1, 2, 2])
})

test('a constant schedule stays at its peak for ever', () => {
  const multipliers = [0, 1, 2, 100].map((s) => constantMultiplier(s, { num_warmup_steps: 2 }))
  expect(multipliers).toEqual([0, 0.5, 1, 1])
})

test('a cosine of one whole cycle comes back up, and its warm-up may start above 0', () => {
  const schedule = { num_warmup_steps: 2, num_training_steps: 6, num_cycles: 1, init_lr_ratio: 0.5 }
  const multipliers = [0, 1, 2, 3, 4, 5, 6].map((step) => cosineMultiplier(step, schedule))
  expectClose(multipliers, [0.5, 0.75, 1, 0.5, 0, 0.5, 1], { rtol: 1e-12, atol: 1e-12 })
  expect(learningRate({ ...optim, lr_scheduler_type: 'cosine', num_cycles: 1 }, 8, 8)).toBe(2)
})

test('warm-up, stable, decay ends at its floor and stays there', () => {
  // 10 steps after the warm-up: 5 stable, 5 of decay
  const schedule = {
    num_warmup_steps: 2,
    num_training_steps: 12,
    min_lr_ratio: 0.2,
    stable_ratio: 0.5,
  }
  const multipliers = Array.from({ length: 14 }, (_, step) => wsdMultiplier(step, schedule))
  expect(multipliers.slice(0, 8)).toEqual([0, 0.5, 1, 1, 1, 1, 1, 1])
  const at = (p: number) => 0.2 + 0.8 * 0.5 * (1 + Math.cos(Math.PI * p))
  expectClose(multipliers.slice(8, 12), [at(0.2), at(0.4), at(0.6), at(0.8)], { rtol: 1e-12 })
  expect(multipliers.slice(12)).toEqual([0.2, 0.2])
})

test('no schedule leaves the range from its floor to 1', () => {
  const schedule = { num_warmup_steps: 0, num_training_steps: 7, min_lr_ratio: 0.1 }
  for (let step = 0; step < 20; step++)
    for (const multiplier of [cosineMultiplier(step, schedule), wsdMultiplier(step, schedule)]) {
      expect(multiplier).toBeGreaterThanOrEqual(0.1)
      expect(multiplier).toBeLessThanOrEqual(1)
    }
})

test('a floor that is no share is refused', () => {
  const schedule = { num_warmup_steps: 0, num_training_steps: 4, min_lr_ratio: 1.5 }
  expect(() => cosineMultiplier(0, schedule)).toThrow(/min_lr_ratio: .* got 1.5/)
  expect(() => wsdMultiplier(0, schedule)).toThrow(RangeError)
})
