// A composed reward in the real trainer: what is trained on, what is reported of each part, and a
// response that cannot be scored.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { createReward, type PartChoice } from '../../../tasks/rewards/composed.ts'
import { installProgramRunner, loadProgram } from '../../../tasks/task/program.ts'
import { mean } from '../../math/stats.ts'
import { CONFIG, RL } from '../../testing.ts'
import { Trainer } from '../trainer.ts'

async function stepWith(parts: readonly PartChoice[]) {
  const limits = { timeout_ms: 1000, batch_timeout_ms: 1000 }
  const reward = createReward({ parts, ...limits }, CONFIG.task)
  const validation = { test_freq: 1, prompts: 4, n: 2 }
  const config = { ...CONFIG, reward, phases: [{ ...RL, steps: 1 }], validation }
  const trainer = await Trainer.create(await Gpu.open(), config)
  await trainer.next()
  const result = await trainer.next()
  trainer.destroy()
  return result
}

test('the sum of the parts is trained on, and each part is reported', async () => {
  const { metrics, samples } = await stepWith([
    { id: 'exact_match', weight: 1 },
    { id: 'length', weight: -0.25, shortest: 2, longest: 2, slope: 2 },
  ])
  const means = ['exact_match', 'length'].map((part) => metrics[`reward/${part}/mean`])
  expect(metrics['task/score/mean']).toBeCloseTo(means[0] - 0.25 * means[1], 12)
  expect(metrics['critic/score/mean']).toBeCloseTo(metrics['task/score/mean'], 6)
  expect([metrics['reward/timeouts'], metrics['reward/errors']]).toEqual([0, 0])
  for (const { score, reward_parts = {}, response, ground_truth } of samples) {
    expect(reward_parts.exact_match).toBe(response === ground_truth ? 1 : 0)
    expect(score).toBe(reward_parts.exact_match - 0.25 * reward_parts.length)
  }
  // As verl reports what a reward function returns beside its score.
  for (const name of ['exact_match', 'length'])
    expect(metrics).toHaveProperty([`val-aux/${CONFIG.task.id}/${name}/mean@2`])
})

test('a response that a program cannot score scores 0, is counted, and says why', async () => {
  loadProgram('sha256-p', '')
  installProgramRunner(async (_program, _entry, responses) =>
    responses.map((_, row) =>
      row === 1 ? { problem: 'timeout', message: 'too long' } : { value: { score: 0.5, half: 1 } },
    ),
  )
  const part = { id: 'program', weight: 2, code: 'sha256-p', name: 'p.js' }
  const { metrics, samples } = await stepWith([part])
  expect(metrics).toMatchObject({
    'reward/timeouts': 1,
    'reward/program/mean': 0.5,
    'reward/program/half/mean': 1,
  })
  expect(metrics['task/score/mean']).toBeCloseTo(1 - 1 / samples.length, 12)
  const failed = samples.filter(({ reward_problem }) => reward_problem !== undefined)
  expect(failed).toMatchObject([{ score: 0, reward_problem: 'program: too long' }])
  expect(mean(samples.map(({ score }) => score))).toBeCloseTo(metrics['task/score/mean'], 12)
})

test('a batch of which no response can be scored ends the run with the first reason', async () => {
  loadProgram('sha256-q', '')
  installProgramRunner(async (_program, _entry, responses) =>
    responses.map((_, row) => ({ problem: 'error', message: `q.py, line ${row}: KeyError: 'x'` })),
  )
  const part = { id: 'program', weight: 1, code: 'sha256-q', name: 'q.js' }
  await expect(stepWith([part, { id: 'exact_match', weight: 1 }])).rejects.toThrow(
    /^None of \d+ responses could be scored\. program: q\.py, line 0: KeyError: 'x'$/,
  )
})
