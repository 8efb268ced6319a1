// Another experiment that is opened while a run is on: neither becomes part of the other.
import { beforeEach, expect, test, vi } from 'vitest'
import { steerExperiment } from '../../document/experiment/experiment.ts'
import type { SteeringAction } from '../../document/experiment/steering/actions.ts'
import { presetOf } from '../../document/presets/presets.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { type LabState, labStore } from '../state/store.ts'
import { discardEdits } from './button_edits.ts'
import { train } from './controls.ts'
import { appendPhase, editField, onEdit, removePhase, setSteps } from './edits.ts'
import { choosePreset, openExperiment } from './opening.ts'
import { adapter, draw, openPage, port, withTestPages } from './testing.ts'

withTestPages()
beforeEach(() => onEdit(() => {}))

const state = (): LabState => labStore.getState()
const sent = () => port().commands.filter(({ type }) => type === 'steer')
const other = presetOf('tiny-dapo')?.experiment

/** What the worker says once the run has done it. */
function does(action: SteeringAction): void {
  const { run, runExperiment, runDocument, phase, phase_step } = state()
  if (!runExperiment || !runDocument) throw new Error('there is no run')
  const after = steerExperiment(runExperiment, action, phase, phase_step)
  if (!after.ok) throw new Error(after.message)
  const entry = { step: 5, ...action }
  const steering = [...runDocument.steering, entry]
  port().says({ type: 'steered', run, entry, experiment: after.experiment, steering })
  draw()
}

function running(): void {
  openPage('v=1&p=tiny')
  port().says({ type: 'adapter', adapter })
  train()
  port().says({ type: 'status', run: state().run, status: 'running' })
  draw()
}

const SLOWER = { kind: 'set', path: 'actor.optim.lr', value: 0.004 } as const

test('a chosen experiment stays as it was chosen, whatever is done to the run', () => {
  running()
  choosePreset('tiny-dapo')
  const phase = state().runExperiment?.phases[0]
  if (!phase) throw new Error('there is no phase')
  does(SLOWER)
  does({ kind: 'interrupt_phase', phase: { ...phase, steps: 20 } })
  expect(state().runExperiment).toMatchObject({ actor: { optim: { lr: 0.004 } } })
  expect(state().experiment).toBe(other)
  // The next run is the chosen one, phases that were ended by hand included.
  const ends = { step: 9, phase: 1, reason: 'insert_phase' } as const
  port().says({ type: 'phase', run: state().run, ...ends })
  port().says({ type: 'status', run: state().run, status: 'finished' })
  draw()
  expect(state().experiment).toBe(other)
  expect(nextExperiment(state())).toBe(other)
})

test('what is set in a chosen experiment is not done to the run', () => {
  vi.useFakeTimers()
  running()
  const before = state().runExperiment
  // What was set before is still meant for the run.
  expect(editField('actor.optim.lr', 0.002)).toBeUndefined()
  choosePreset('tiny-dapo')
  expect(sent()).toMatchObject([{ action: { path: 'actor.optim.lr', value: 0.002 } }])
  expect(state().experiment).toBe(other)
  expect(editField('actor.optim.lr', 0.03)).toBeUndefined()
  expect(appendPhase({ ...state().experiment.phases[0] }, 'settings')).toBeUndefined()
  vi.advanceTimersByTime(1000)
  expect(state().experiment.phases).toHaveLength((other?.phases.length ?? 0) + 1)
  expect(removePhase(1, 'settings')).toBeUndefined()
  expect(state().runExperiment).toBe(before)
  expect(sent()).toHaveLength(1)
  // The line shows the run.
  expect(setSteps(1, 77)).toBeUndefined()
  expect(sent().at(-1)).toMatchObject({ action: { path: 'phases.1.steps', value: 77 } })
  expect(state().experiment.phases[1]?.steps).not.toBe(77)
  vi.useRealTimers()
})

test('an experiment of the same preset is another one too, with what it plans itself', () => {
  running()
  const steering = [{ step: 3, kind: 'next_phase' }] as const
  const mine = { ...state().experiment, seed: 77, steering }
  openExperiment(mine, 'mine.json')
  does(SLOWER)
  expect(state().experiment).toBe(mine)
  expect(nextExperiment(state())).toBe(mine)
})

test('after Discard the settings are those of the run, compared with its own preset', () => {
  running()
  choosePreset('tiny-dapo')
  does(SLOWER)
  discardEdits()
  const { runExperiment, runDocument } = state()
  expect(state()).toMatchObject({ experiment: runExperiment, preset_id: 'tiny', isBeside: false })
  expect(nextExperiment(state())).toBe(runDocument)
  // And they follow it again.
  does({ ...SLOWER, value: 0.005 })
  expect(state().experiment.actor.optim.lr).toBe(0.005)
})

test('the run’s own experiment is not another one, and settings that were edited follow', () => {
  running()
  choosePreset('tiny-dapo')
  choosePreset('tiny')
  expect(editField('rollout.n', 2)).toBeUndefined()
  does(SLOWER)
  expect(state().experiment).toMatchObject({ rollout: { n: 2 }, actor: { optim: { lr: 0.004 } } })
})
