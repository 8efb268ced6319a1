// What the bar says of a moment in which Train does something else than begin the preset's run.
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withField } from '../../document/experiment/experiment.ts'
import { PRESETS } from '../../document/presets/presets.ts'
import { initialState, type LabState, labStore } from '../../page/state/store.ts'
import { studyTrainingStore } from '../../page/study/mark_training.ts'
import { Status } from '../learning/Status.tsx'
import { SettingsDiffer } from '../phases/SettingsDiffer.tsx'
import { presentStore } from '../shown/shown.ts'
import { Choice, Controls } from './palette/Controls.tsx'

const [PRESET] = PRESETS
const LR = 'actor.optim.lr'
const wrongFields = [{ path: LR, label: 'Learning rate', text: 'fast', problem: 'a number' }]

const lab = (change: Partial<LabState>) => labStore.setState({ ...initialState(), ...change })
const training = (isTraining: boolean) => studyTrainingStore.setState({ isTraining })
const status = () => renderToStaticMarkup(<Status />)
const train = () =>
  /<button[^>]*id="train".*?<\/button>/s.exec(renderToStaticMarkup(<Controls />))?.[0]

function experimentWith(path: string, value: unknown) {
  const changed = withField(PRESET.experiment, path, value)
  if (!changed.ok) throw new Error(changed.message)
  return changed.experiment
}

beforeEach(() => {
  // Static markup shows what a store began with.
  for (const store of [labStore, presentStore, studyTrainingStore])
    vi.spyOn(store, 'getInitialState').mockImplementation(store.getState as never)
  lab({ status: 'idle' })
})
afterEach(() => {
  vi.restoreAllMocks()
  training(false)
})

test('while a field is wrong no status says that all is ready', () => {
  expect(status()).toContain('ready')
  lab({ status: 'idle', wrongFields })
  expect(status()).toContain('a setting is wrong')
  expect(status()).not.toContain('ready')
  const [lr] = wrongFields
  lab({ status: 'idle', wrongFields: [lr, { ...lr, path: 'seed', label: 'Seed' }] })
  expect(status()).toContain('2 settings are wrong')
  // A run that is on has the value from before.
  lab({ status: 'running', wrongFields })
  expect(status()).toContain('measuring step 0')
  // What comes after the last step is no training.
  const { phases } = PRESET.experiment
  const step = phases.reduce((sum, { steps }) => sum + steps, 0)
  const last = { phase: phases.length - 1, phase_step: phases[phases.length - 1].steps }
  lab({ status: 'running', runExperiment: PRESET.experiment, step, ...last })
  expect(status()).toContain('measuring the end')
  lab({ status: 'idle', wrongFields })
  training(true)
  expect(status()).toContain('a setting is wrong, and a study trains')
})

test('Reset says what it does: without a run it puts back what no field took', () => {
  const tip = () =>
    /<button[^>]*id="reset"[^>]*title="([^"]*)/.exec(renderToStaticMarkup(<Controls />))?.[1]
  expect(tip()).toContain('Drop this run')
  lab({ status: 'idle', wrongFields })
  expect(tip()).toBe('Put the values from before back (R)')
  lab({ status: 'paused', wrongFields })
  expect(tip()).toContain('Drop this run')
})

test('beside a study that trains, Train says what it would do and is not the first thing to press', () => {
  expect(train()).toContain('primary')
  training(true)
  expect(train()).toContain('Train beside the study')
  expect(train()).not.toContain('primary')
  // What is said of changed settings names the same button.
  lab({
    status: 'finished',
    runExperiment: PRESET.experiment,
    experiment: experimentWith(LR, 0.002),
  })
  expect(renderToStaticMarkup(<SettingsDiffer />)).toContain('>Train beside the study<')
  // A run that is on is paused as ever.
  lab({ status: 'running' })
  expect(train()).toContain('Pause')
})

test('a run that ended beside another chosen experiment is called by its own name', () => {
  const [, other] = PRESETS
  const state = { status: 'finished', runExperiment: PRESET.experiment } as const
  lab({ ...state, experiment: other.experiment, preset_id: other.id, isBeside: true })
  const note = renderToStaticMarkup(<SettingsDiffer />)
  expect(note).toContain(`is of “${PRESET.name}”`)
  expect(note).toContain('Another experiment was chosen')
  lab({ ...state, experiment: experimentWith(LR, 0.002), isBeside: false })
  expect(renderToStaticMarkup(<SettingsDiffer />)).toContain('The settings have changed since')
})

test('what a run was steered is done again: said with the name and beside the line of phases', () => {
  const chosen = () =>
    /<option value="[^"]*" selected="">([^<]*)/.exec(renderToStaticMarkup(<Choice />))?.[1]
  expect(renderToStaticMarkup(<SettingsDiffer />)).toBe('')
  const set = { kind: 'set', path: LR, value: 0.002 } as const
  const steering = [3, 5].map((step) => ({ step, ...set }))
  lab({ experiment: { ...PRESET.experiment, steering } })
  expect(chosen()).toBe(`● ${PRESET.name}`)
  const note = renderToStaticMarkup(<SettingsDiffer />)
  expect(note).toContain('makes the 2 changes by hand again, each after the same step')
  expect(note).toContain('Leave them out')
  lab({ experiment: { ...PRESET.experiment, steering: steering.slice(1) } })
  const one = renderToStaticMarkup(<SettingsDiffer />)
  expect(one).toContain('makes the change by hand again, after the same step.')
  expect(one).toContain('The line of phases marks where.')
  expect(one).toContain('Leave it out')
})

test('the menu of experiments says that the settings are no preset’s, by their own name where they have one', () => {
  const chosen = () =>
    /<option value="[^"]*" selected="">([^<]*)/.exec(renderToStaticMarkup(<Choice />))?.[1]
  expect(chosen()).toBe(PRESET.name)
  lab({ experiment: experimentWith(LR, 0.002) })
  expect(chosen()).toBe(`● ${PRESET.name}`)
  lab({ experiment: experimentWith('name', 'Mine, without its inner phase') })
  expect(chosen()).toBe('Mine, without its inner phase')
})
