// Counts the steps of a run, with what is done to it by hand.
import { expect, test } from 'vitest'
import { parseExperiment } from '../experiment.ts'
import type { Experiment } from '../schema/schema.ts'
import type { SteeringEntry } from '../steering/actions.ts'
import { plannedStretches, plannedTotal, type RunSoFar, stepsToCome } from './planned.ts'

const PHASES = [
  { kind: 'sft', steps: 12 },
  { kind: 'rl', steps: 40, target_layer: 1 },
  { kind: 'rl', steps: 60, target_layer: 'final' },
] as const

function experimentOf(steering: readonly SteeringEntry[], phases: readonly object[] = PHASES) {
  const parsed = parseExperiment({ phases, steering })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}
const lengths = (experiment: Experiment, steering: readonly SteeringEntry[] = []) =>
  plannedStretches(experiment, steering).map(({ phase, from, to }) => [phase, to - from])

const BEFORE: Omit<RunSoFar, 'experiment' | 'steering'> = {
  steered: [],
  phase_switches: [],
  step: 0,
  phase: 0,
  phase_step: 0,
}

test('without steering all steps of all phases are to come', () => {
  const experiment = experimentOf([])
  expect(lengths(experiment)).toEqual([
    [0, 12],
    [1, 40],
    [2, 60],
  ])
  expect(plannedTotal({ ...BEFORE, experiment, steering: [] })).toBe(112)
})

test('a phase that is to end by hand drops its rest: the announced total is what the run takes', () => {
  const steering: SteeringEntry[] = [{ step: 5, kind: 'next_phase' }]
  const experiment = experimentOf(steering)
  expect(plannedTotal({ ...BEFORE, experiment, steering })).toBe(105)
  expect(lengths(experiment, steering)).toEqual([
    [0, 5],
    [1, 40],
    [2, 60],
  ])
})

test('phases that are inserted, repeated, removed or made longer by hand count', () => {
  const [sft] = experimentOf([]).phases
  const steering: SteeringEntry[] = [
    { step: 4, kind: 'insert_phase', phase: { ...sft, steps: 7 } },
    { step: 6, kind: 'repeat_phase' },
    { step: 8, kind: 'set', path: 'phases.4.steps', value: 3 },
    { step: 9, kind: 'remove_phase', index: 3 },
  ]
  expect(lengths(experimentOf([]), steering)).toEqual([
    [0, 4],
    [1, 2],
    [1, 2],
    [1, 1],
    [1, 2],
    [2, 7],
    [3, 3],
  ])
})

test('of a current run, what was taken counts and what was done is not done again', () => {
  const steering: SteeringEntry[] = [
    { step: 5, kind: 'next_phase' },
    { step: 20, kind: 'next_phase' },
  ]
  const experiment = experimentOf([])
  const steered = [{ entry: steering[0] }]
  const begun = { step: 0, phase: 0, reason: 'start' }
  const at5: RunSoFar = {
    experiment,
    steering,
    step: 5,
    phase: 0,
    phase_step: 5,
    steered: [],
    phase_switches: [begun],
  }
  // Before the entry is done, once it is, and when the next phase has begun.
  expect(plannedTotal(at5)).toBe(80)
  expect(plannedTotal({ ...at5, steered })).toBe(80)
  const later: RunSoFar = {
    ...at5,
    steered,
    step: 9,
    phase: 1,
    phase_step: 4,
    phase_switches: [begun, { step: 5, phase: 1, reason: 'next_phase' }],
  }
  expect(plannedTotal(later)).toBe(80)
  expect(stepsToCome(later).map(({ phase, to }) => [phase, to])).toEqual([
    [1, 20],
    [2, 80],
  ])
  expect(plannedTotal({ ...later, step: 80, phase: 2, phase_step: 60 })).toBe(80)
})

test('a phase that interrupts costs the present one no step, nor does one that follows it', () => {
  const [sft] = experimentOf([]).phases
  const phase = { ...sft, steps: 3 }
  const steering = (kind: 'insert_phase' | 'interrupt_phase' | 'follow_phase'): SteeringEntry[] => [
    { step: 5, kind, phase },
  ]
  const experiment = experimentOf([])
  const total = (kind: Parameters<typeof steering>[0]) =>
    plannedStretches(experiment, steering(kind)).at(-1)?.to
  expect(total('insert_phase')).toBe(112 + 3 - 7)
  expect(total('interrupt_phase')).toBe(112 + 3)
  expect(total('follow_phase')).toBe(112 + 3)
  expect(lengths(experiment, steering('interrupt_phase')).slice(0, 3)).toEqual([
    [0, 5],
    [1, 3],
    [2, 7],
  ])
  expect(lengths(experiment, steering('follow_phase')).slice(0, 3)).toEqual([
    [0, 5],
    [0, 7],
    [1, 3],
  ])
})

test('an entry that cannot be done, or that comes after the end, changes nothing', () => {
  const experiment = experimentOf([])
  const steering: SteeringEntry[] = [
    { step: 20, kind: 'remove_phase', index: 0 },
    { step: 500, kind: 'repeat_phase' },
  ]
  expect(plannedStretches(experiment, steering).at(-1)?.to).toBe(112)
})

test('what is done after a step in flight is counted once', () => {
  const [, , rl] = experimentOf([]).phases
  const phase = { ...rl, steps: 3 }
  const steering: SteeringEntry[] = [{ step: 32, kind: 'interrupt_phase', phase }]
  // The run has answered; steps 31 and 32 of the present phase are not reported yet.
  const run: RunSoFar = {
    experiment: experimentOf([], [...PHASES.slice(0, 2), phase, { ...PHASES[1], steps: 20 }]),
    steering,
    steered: [{ entry: steering[0] }],
    phase_switches: [
      { step: 0, phase: 0, reason: 'start' },
      { step: 12, phase: 1, reason: 'steps' },
    ],
    step: 30,
    phase: 1,
    phase_step: 18,
  }
  expect(plannedTotal(run)).toBe(12 + 40 + 3)
  expect(stepsToCome(run).map(({ phase, from, to }) => [phase, from, to])).toEqual([
    [1, 30, 32],
    [2, 32, 35],
    [3, 35, 55],
  ])
  expect(plannedTotal({ ...run, step: 32, phase_step: 20 })).toBe(55)
})
