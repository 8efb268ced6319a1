import { expect, test } from 'vitest'
import { edited } from '../../../document/experiment/testing.ts'
import { initialState, type LabState } from '../../../page/state/store.ts'
import { overRunWords } from './over_run.ts'

const LR = 'actor.optim.lr'
const { experiment } = initialState()
const entry = { step: 78, kind: 'set', path: LR, value: 0.0015 } as const
const document = { ...edited(experiment, LR, 0.001), steering: [entry] }
const steered = edited({ ...document, steering: [] }, LR, 0.0015)
const run: LabState = {
  ...initialState(),
  status: 'running',
  step: 90,
  phase: 2,
  phase_step: 20,
  experiment: steered,
  runExperiment: steered,
  runDocument: document,
  phase_switches: [
    { step: 0, phase: 0, reason: 'start' },
    { step: 66, phase: 1, reason: 'steps' },
    { step: 70, phase: 2, reason: 'steps' },
  ],
}
const VALUES = '0.001, then 0.0015 after step 78'

test('a setting that was changed during the run says so, and which value an edit is about', () => {
  expect(overRunWords(run, LR)).toBe(`${VALUES}. A change here counts from the next step.`)
  // Another change is on its way to the run.
  const asked = { ...run, experiment: edited(steered, 'rollout.temperature', 1.5) }
  expect(overRunWords(asked, LR)).toBe(overRunWords(run, LR))
  expect(overRunWords({ ...run, status: 'finished' }, LR)).toBe(
    `${VALUES}. Train again does the same; a value that you set here counts from the first step.`,
  )
  expect(overRunWords(run, 'rollout.n')).toBe('')
})

test('settings beside a run that is on say what it was and what comes', () => {
  const beside: LabState = { ...run, isBeside: true, experiment: edited(steered, LR, 0.002) }
  expect(overRunWords(beside, LR)).toMatch(/^The run on screen: /)
})

test('settings that have left the run say what it was and what comes', () => {
  const left: LabState = { ...run, status: 'finished', experiment: edited(steered, LR, 0.002) }
  expect(overRunWords(left, LR)).toBe(
    `The run on screen: ${VALUES}. The next run has what stands here from its first step.`,
  )
})

test('the receiver of a link is told before the run begins', () => {
  expect(overRunWords({ ...initialState(), experiment: document }, LR)).toMatch(
    `${VALUES}. Train does this`,
  )
})

test('what is planned stands below its setting at every step of the run', () => {
  const at = [2, 4, 7]
  const planned = {
    ...edited(experiment, LR, 0.001),
    steering: at.map(
      (step, i) => ({ step, kind: 'set', path: LR, value: 0.002 + i / 1000 }) as const,
    ),
  }
  for (let step = 0; step <= 12; step++) {
    const now = edited(
      { ...planned, steering: [] },
      LR,
      0.001 * (1 + at.filter((one) => one <= step).length),
    )
    const state: LabState = {
      ...run,
      step,
      phase: 0,
      phase_step: step,
      experiment: now,
      runExperiment: now,
      runDocument: planned,
      phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    }
    expect(overRunWords(state, LR), `step ${step}`).toBe(
      '0.001, then 0.002 after step 2, then 0.003 after step 4, then 0.004 after step 7. A change here counts from the next step.',
    )
  }
})

test('what was found while a phase began does not stay', () => {
  const planned = { ...document, steering: [entry, { ...entry, step: 95, value: 0.002 }] }
  const state: LabState = { ...run, runDocument: planned }
  const phase_step = planned.phases[2].steps
  overRunWords({ ...state, phase_step }, LR)
  expect(overRunWords(state, LR)).toContain(`${VALUES}, then 0.002 after step 95`)
})
