import { expect, test } from 'vitest'
import { parsed } from '../../../document/experiment/testing.ts'
import { Series } from '../../../host/columns/series.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { onTheWay } from './on_the_way.ts'

function run(shares: readonly number[], steering: readonly object[] = []): LabState {
  const runDocument = parsed({
    actor: { optim: { lr: 0.005 } },
    phases: [{ kind: 'rl', steps: 40 }],
    validation: { prompts: 128 },
    steering,
  })
  const column = new Series()
  for (const [i, share] of shares.entries()) column.push(10 * i, share)
  return {
    ...initialState(),
    runDocument,
    runExperiment: { ...runDocument, steering: [] },
    status: 'finished',
    step: 40,
    phase_step: 40,
    phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    series: new Map([[greedyAccuracy(runDocument.task.id), column]]),
  }
}

test('a setting that was changed while a run trained is said, and what it fell to in between', () => {
  const steering = [{ step: 12, kind: 'set', path: 'actor.optim.lr', value: 0.0005 }]
  expect(onTheWay(run([0.77, 0.48, 0.6, 0.7, 0.83], steering))).toEqual([
    'After step 12, “Learning rate” became 0.0005.',
    'In between, greedy answers fell to 48\u00a0% right at step 10.',
  ])
  expect(onTheWay(run([0.5, 0.6, 0.9, 0.7, 0.55]))).toEqual([
    'In between, greedy answers rose to 90\u00a0% right at step 20.',
  ])
})

test('what chance alone brings is not said', () => {
  expect(onTheWay(run([0.77, 0.73, 0.8, 0.85, 0.83]))).toEqual([])
  expect(onTheWay(run([]))).toEqual([])
})

test('a phase that was inserted is said, in the order of the steps, and none that was refused', () => {
  const grpo = { kind: 'rl', adv_estimator: 'grpo', steps: 3 }
  const inner = { ...grpo, adv_estimator: 'reinforce_plus_plus', target_layer: 2 }
  const set = { step: 30, kind: 'set', path: 'actor.optim.lr', value: 0.0005 }
  const steering = parsed({
    phases: [{ kind: 'rl', steps: 40 }],
    steering: [
      { step: 24, kind: 'interrupt_phase', phase: grpo },
      { step: 32, kind: 'append_phase', phase: inner },
      { step: 35, kind: 'repeat_phase' },
    ],
  }).steering
  const [interrupt, append, repeat] = steering
  const state: LabState = {
    ...run([], [set]),
    steered: [
      { entry: interrupt, refused: undefined },
      { entry: append, refused: undefined },
      { entry: repeat, refused: 'expected something else' },
    ],
  }
  expect(onTheWay(state)).toEqual([
    'After step 24 a phase was inserted: GRPO, whole model (3 steps).',
    'After step 30, “Learning rate” became 0.0005.',
    'After step 32 a phase was added: BuPO (REINFORCE++), layer 2 (3 steps).',
  ])
})
