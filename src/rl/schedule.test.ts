import { expect, test } from 'vitest'
import { expectClose } from '../kernels/testing.ts'
import type { Optim, Phase, SftPhase } from './phase.ts'
import { learningRate, stageSteps } from './schedule.ts'

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
  expect(phases.map((_, i) => stageSteps(phases, i))).toEqual([5, 7, 7, 5, 2])
})
