// Makes a small study, and results that nobody trained.
import { type Arm, expandStudy } from './arms.ts'
import type { PlannedRun } from './queue.ts'
import { ResultLog, type RunResult } from './results.ts'
import { parseStudy, type Study } from './study.ts'

/** Two arms of a narrow model. */
export const DOCUMENT = {
  name: 'Two rates',
  question: 'Which rate is better?',
  base: {
    task: { id: 'sort_digits', length: 3 },
    phases: [
      { kind: 'sft', steps: 10 },
      { kind: 'rl', steps: 20 },
    ],
    rollout: { train_batch_size: 16, n: 4 },
    actor: { ppo_mini_batch_size: 16 },
    validation: { test_freq: 10 },
  },
  arms: [{ name: 'slow' }, { name: 'fast', set: { 'actor.optim.lr': 0.001 } }],
  seeds: [1, 2, 3, 4],
  measure: { metric: 'acc/greedy' },
} as const

export function studyOf(document: object = DOCUMENT): Study {
  const parsed = parseStudy(document)
  if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join('; '))
  return parsed.study
}

export function armsOf(document: object = DOCUMENT): readonly Arm[] {
  const expanded = expandStudy(studyOf(document))
  if (!expanded.ok) throw new Error(expanded.problems.join('; '))
  return expanded.arms
}

/** What a run would leave whose greedy accuracy rises from 0.5 to `end`. */
export function madeUpResult(
  study: Study,
  { arm, seed, experiment }: PlannedRun,
  end: number,
  more: Partial<Pick<RunResult, 'adapter' | 'status'>> = {},
): RunResult {
  const log = new ResultLog(experiment, study)
  for (let step = 0; step <= 30; step++)
    log.step(step, step <= 10 ? 0 : 1, {
      ...(step > 10 && { 'perf/total_num_tokens': 400 }),
      ...(step % 10 === 0 && {
        'val-aux/sort_digits/acc/greedy': 0.5 + ((end - 0.5) * Math.max(0, step - 10)) / 20,
      }),
      'layer/entropy/0': 3,
      'layer/entropy/1': 2,
    })
  return log.result({
    arm: arm.name,
    seed,
    status: 'finished',
    adapter: 'made up',
    seconds: 3,
    ...more,
  })
}
