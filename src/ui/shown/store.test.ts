import { beforeEach, expect, test } from 'vitest'
import { isEnding } from '../../document/experiment/steered/planned.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import {
  canNextPhase,
  canReset,
  canRestart,
  canStep,
  canToggle,
  toggleLabel,
} from '../open/actions.ts'
import { selectLeftOut } from './run.ts'
import { linkedState, viewStore } from './shown.ts'
import { isThreshold, toggleLine, uiStore } from './store.ts'
import { VERL_LOG } from './testing.ts'

const all = ['a', 'b', 'c']
const hidden = () => [...uiStore.getState().hiddenLines].sort()

beforeEach(() => uiStore.setState({ hiddenLines: new Set() }))

test('a click hides a line and another shows it again', () => {
  toggleLine('b', all, false)
  expect(hidden()).toEqual(['b'])
  toggleLine('b', all, false)
  expect(hidden()).toEqual([])
})

test('solo leaves one line, and solo again brings all back without touching other charts', () => {
  toggleLine('elsewhere', ['elsewhere'], false)
  toggleLine('b', all, true)
  expect(hidden()).toEqual(['a', 'c', 'elsewhere'])
  toggleLine('b', all, true)
  expect(hidden()).toEqual(['elsewhere'])
})

test('only a number of nats that can be meant is taken for the threshold', () => {
  expect([0, 0.05, 10].every(isThreshold)).toBe(true)
  expect([-0.1, 11, Number.NaN, '0.1', undefined].some(isThreshold)).toBe(false)
})

const state = (change: Partial<LabState>): LabState => ({ ...initialState(), ...change })

test('the big button says what it will do', () => {
  const says = (status: LabState['status']) => toggleLabel(state({ status }))
  expect(says('idle')).toBe('Train')
  expect(says('preparing')).toBe('Pause')
  expect(says('running')).toBe('Pause')
  expect(says('paused')).toBe('Continue')
  expect(says('finished')).toBe('Train again')
  expect(says('failed')).toBe('Try again')
})

test('nothing can be trained where there is no WebGPU, but a lost GPU can be tried again', () => {
  const failed = (code: 'no_webgpu' | 'lost') =>
    state({ status: 'failed', error: { name: 'GpuError', code, message: '' } })
  // A pause that was asked for is said at once, and cannot be asked for again.
  const pausing = state({ status: 'running', isPausing: true })
  expect(toggleLabel(pausing)).toBe('Pausing …')
  expect(canToggle(pausing)).toBe(false)
  expect(canToggle(failed('lost'))).toBe(true)
  expect(canReset(failed('lost'))).toBe(true)
  // Without any GPU there never was a run to drop.
  expect(canReset(failed('no_webgpu'))).toBe(false)
})

test('where the browser gives no GPU the big button looks for one', () => {
  const failed = (code: 'no_webgpu' | 'no_adapter') =>
    state({ status: 'failed', error: { name: 'GpuError', code, message: '' } })
  expect(toggleLabel(failed('no_adapter'))).toBe('Look for a GPU again')
  expect(canToggle(failed('no_adapter'))).toBe(true)
  expect(toggleLabel(failed('no_webgpu'))).toBe('Look for a GPU again')
  expect(canToggle(failed('no_webgpu'))).toBe(true)
})

test('nothing begins beside a field that does not take what was typed, and Reset clears it', () => {
  const wrong = {
    path: 'actor.optim.lr',
    label: 'Learning rate',
    text: '999',
    problem: 'expected at most 1, got 999',
  }
  const red = (status: LabState['status']) => state({ status, wrongFields: [wrong] })
  expect([canToggle(red('idle')), canStep(red('idle'))]).toEqual([false, false])
  expect([canToggle(red('finished')), canToggle(red('failed'))]).toEqual([false, false])
  expect(canRestart(red('running'))).toBe(false)
  // A run that is on is paused and continued with the values that it has.
  expect([canToggle(red('running')), canToggle(red('paused'))]).toEqual([true, true])
  expect(canReset(red('idle'))).toBe(true)
  // A field that is in the form no longer holds nothing back.
  const gone = { ...wrong, path: 'phases.9.steps' }
  expect(canToggle(state({ status: 'idle', wrongFields: [gone] }))).toBe(true)
})

test('a step is possible before a run and in a pause, the next phase only where there is one', () => {
  expect(canStep(state({ status: 'idle' }))).toBe(true)
  expect(canStep(state({ status: 'running' }))).toBe(false)
  expect(canNextPhase(state({ status: 'running', phase: 0 }))).toBe(true)
  const last = state({ status: 'running' }).experiment.phases.length - 1
  expect(canNextPhase(state({ status: 'running', phase: last }))).toBe(false)
})

test('a phase that a person has ended cannot be ended again before the next one has begun', () => {
  const mark = (step: number, refused?: string) => ({
    entry: { step, kind: 'next_phase' as const },
    refused,
  })
  const start = { step: 0, phase: 0, reason: 'start' as const }
  const at = (change: Partial<LabState>) =>
    state({ status: 'paused', step: 4, phase_switches: [start], ...change })
  expect(isEnding(at({ steered: [mark(4)] }))).toBe(true)
  expect(canNextPhase(at({ steered: [mark(4)] }))).toBe(false)
  // The step in flight has not arrived.
  expect(isEnding(at({ step: 3, steered: [mark(4)] }))).toBe(true)
  expect(isEnding(at({ step: 0, steered: [mark(0)] }))).toBe(true)
  const began = { step: 4, phase: 1, reason: 'next_phase' as const }
  for (const change of [
    {},
    { steered: [mark(4, 'no room')] },
    { steered: [mark(4)], phase_switches: [start, began] },
    { steered: [mark(4)], phase_switches: [start, began], step: 5 },
  ]) {
    expect(isEnding(at(change))).toBe(false)
    expect(canNextPhase(at(change))).toBe(true)
  }
})

test('settings that have left a steered run leave out what was done to it', () => {
  const { experiment } = initialState()
  const entry = { step: 3, kind: 'repeat_phase' as const }
  const runDocument = { ...experiment, steering: [entry] }
  const run = { status: 'finished' as const, runExperiment: experiment, runDocument }
  expect(selectLeftOut(state({ ...run, experiment }))).toBe(0)
  expect(selectLeftOut(state({ ...run, experiment: { ...experiment, seed: 99 } }))).toBe(1)
  expect(selectLeftOut(state({ experiment }))).toBe(0)
})

test('while a past run is shown no other run can be begun, and one that is on can be paused', () => {
  viewStore.setState({ viewed: state({ status: 'finished' }) })
  const can = (status: LabState['status']) => [
    canToggle(state({ status })),
    canStep(state({ status })),
  ]
  expect([can('idle'), can('finished')]).toEqual([
    [false, false],
    [false, false],
  ])
  expect([can('running'), can('paused')]).toEqual([
    [true, false],
    [true, true],
  ])
  viewStore.setState({ viewed: undefined })
  expect(can('idle')).toEqual([true, true])
})

test('a link is of the run that is shown, unless a log does not say its settings', () => {
  const viewed = state({ status: 'finished', step: 3 })
  viewStore.setState({ viewed })
  expect(linkedState()).toBe(viewed)
  viewStore.setState({ log: VERL_LOG })
  expect(linkedState()).toBe(labStore.getState())
  viewStore.setState({ viewed: undefined, log: undefined })
})
