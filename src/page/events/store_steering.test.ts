import { expect, test } from 'vitest'
import { steerExperiment, withField } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { initialState, type LabState } from '../state/store.ts'
import { applyEvent } from './apply.ts'

const { experiment } = PRESETS[0]
const changed = (from: Experiment, path: string, value: unknown): Experiment => {
  const result = withField(from, path, value)
  if (!result.ok) throw new Error(result.message)
  return result.experiment
}
const running = (): LabState => ({
  ...initialState(),
  status: 'running',
  run: 1,
  experiment,
  runExperiment: experiment,
  runDocument: experiment,
})
const ENTRY: SteeringEntry = { step: 5, kind: 'set', path: 'actor.optim.lr', value: 0.001 }

function steered(state: LabState, entry: SteeringEntry, refused?: string): LabState {
  const result = steerExperiment(
    state.runExperiment as Experiment,
    entry,
    state.phase,
    state.phase_step,
  )
  const event: LabEvent = {
    type: 'steered',
    run: 1,
    entry,
    experiment: refused === undefined && result.ok ? result.experiment : experiment,
    steering: refused === undefined ? [entry] : [],
    ...(refused !== undefined && { refused }),
  }
  return applyEvent(state, event, 0)
}

test('the settings follow what is done to the run, and the document to repeat it keeps both', () => {
  const after = steered(running(), ENTRY)
  expect(after.experiment.actor.optim.lr).toBe(0.001)
  expect(after.runExperiment?.actor.optim.lr).toBe(0.001)
  const next = nextExperiment(after)
  expect(next).toEqual({ ...experiment, steering: [ENTRY] })
  expect(after.steered).toEqual([{ entry: ENTRY, refused: undefined }])
})

test('settings that have left the run keep their difference, and begin without steering', () => {
  const state = running()
  const edited = { ...state, experiment: changed(experiment, 'rollout.n', 4) }
  const after = steered(edited, ENTRY)
  expect(after.experiment.rollout.n).toBe(4)
  expect(after.experiment.actor.optim.lr).toBe(0.001)
  expect(after.runExperiment?.rollout.n).toBe(8)
  expect(nextExperiment(after)).toBe(after.experiment)
  const own = { ...after, experiment: { ...after.experiment, steering: [ENTRY] } }
  expect(nextExperiment(own).steering).toEqual([])
  // The same object at each call, so that subscribers are called only for a change.
  expect(nextExperiment(own)).toBe(nextExperiment(own))
})

test('what was refused is on record and changes nothing else', () => {
  const after = steered(running(), ENTRY, 'no room')
  expect(after.steered).toEqual([{ entry: ENTRY, refused: 'no room' }])
  expect(nextExperiment(after)).toBe(experiment)
})

test('buffers that a change makes are not counted as waste', () => {
  const after = steered({ ...running(), warmBuffers: 7 }, ENTRY)
  expect(after.warmBuffers).toBeUndefined()
})
