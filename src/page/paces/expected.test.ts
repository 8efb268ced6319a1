// Estimates for experiments that have not run on an adapter.
import { expect, test } from 'vitest'
import { stepWork, validationWork } from '../../document/experiment/costs/step_work.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { inAll } from './estimator.ts'
import { expectedSeconds, type Ratios, ratiosOf, startSeconds, workMs } from './expected.ts'
import { withRun } from './paces.ts'

const SPEED = { dispatch_ms: 0.1, round_ms: 1, gflops: 2 }
const PLAIN: Ratios = { sft: 1, reward_model: 1, preference: 1, distill: 1, rl: 1 }

function experimentOf(document: object) {
  const parsed = parseExperiment({ validation: { test_freq: null }, ...document })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

const RL = { kind: 'rl', steps: 10 }
const plain = experimentOf({ phases: [RL] })
const stepMs = workMs(stepWork(plain, plain.phases[0]), SPEED)

test('the time is the work by the speed, for every step', () => {
  expect(workMs({ dispatches: 30, rounds: 2, arithmetic: 4 }, SPEED)).toBe(3 + 2 + 2000)
  expect(expectedSeconds(plain, SPEED, PLAIN)).toBeCloseTo((10 * stepMs) / 1000)
  const longer = experimentOf({ phases: [{ ...RL, steps: 20 }] })
  expect(expectedSeconds(longer, SPEED, PLAIN)).toBeCloseTo((20 * stepMs) / 1000)
  expect(expectedSeconds(longer, SPEED, PLAIN, 15)).toBeCloseTo((5 * stepMs) / 1000)
})

test('the start takes as long as a run has kernels to compile', () => {
  expect(startSeconds({ ...SPEED, compile_ms: 400 })).toBeCloseTo(14.4)
})

test('several runs compile their kernels once', () => {
  const one = { seconds: 20, start: 14, isMeasured: false }
  expect(inAll([one])).toBe(20)
  expect(inAll([one, one, { seconds: 5, isMeasured: true }], 2)).toBe(14 + 2 * 17)
})

test('validations, a critic, a deeper model and imitation are work too', () => {
  const seconds = (document: object) => expectedSeconds(experimentOf(document), SPEED, PLAIN)
  const bare = seconds({ phases: [RL] })
  expect(seconds({ phases: [RL], validation: { test_freq: 2 } })).toBeGreaterThan(bare)
  // One at its end, and one before its first step.
  const one = workMs(validationWork(plain), SPEED) / 1000
  const ends = { phases: [RL], validation: { test_freq: 10 } }
  expect(seconds(ends)).toBeCloseTo(bare + 2 * one)
  expect(seconds({ phases: [{ ...RL, adv_estimator: 'gae' }] })).toBeGreaterThan(bare)
  expect(seconds({ phases: [RL], model: { num_hidden_layers: 12 } })).toBeGreaterThan(bare)
  expect(seconds({ phases: [{ kind: 'sft', steps: 10 }, RL] })).toBeGreaterThan(bare)
})

test('runs on the adapter correct what its probe says', () => {
  const gaps = { 0: Array.from({ length: 5 }, () => ({ ms: 3 * stepMs, isValidated: false })) }
  const runs = withRun([], 'gpu', { runExperiment: plain, gaps })
  const ratios = ratiosOf(runs, SPEED)
  // Imitation did not run: it is as much slower.
  expect(ratios).toMatchObject({ sft: expect.closeTo(3), rl: expect.closeTo(3) })
  expect(expectedSeconds(plain, SPEED, ratios)).toBeCloseTo((30 * stepMs) / 1000)
  // Of two runs that differ, the middle between both.
  const other = experimentOf({ phases: [RL], model: { num_hidden_layers: 3 } })
  const otherMs = workMs(stepWork(other, other.phases[0]), SPEED)
  const quick = { 0: Array.from({ length: 5 }, () => ({ ms: otherMs, isValidated: false })) }
  const both = withRun(runs, 'gpu', { runExperiment: other, gaps: quick })
  expect(ratiosOf(both, SPEED).rl).toBeCloseTo(2)
  // What somebody else has written there is nothing.
  const spoilt = runs.map((run) => ({ ...run, settings: '{' }))
  expect(ratiosOf(spoilt, SPEED)).toEqual(PLAIN)
})
