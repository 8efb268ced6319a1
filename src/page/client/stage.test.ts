// Another experiment is opened: what of the run stays on the page, and what undo brings back.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { presetOf } from '../../document/presets/presets.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import type { LabPort } from '../connection/port.ts'
import { nextExperiment } from '../state/next_experiment.ts'
import { labStore } from '../state/store.ts'
import { train } from './controls.ts'
import { editField } from './edits.ts'
import { closeLab, openLab } from './lab.ts'
import { choosePreset, openExperiment } from './opening.ts'
import { restoreSettings } from './restoring.ts'

let say: (event: LabEvent) => void = () => {}
let commands: LabCommand[] = []

beforeEach(() => {
  commands = []
  const port = {
    postMessage: (command: LabCommand) => void commands.push(command),
    terminate() {},
    addEventListener: (type: string, listener: (event: { data: LabEvent }) => void) => {
      if (type === 'message') say = (data) => listener({ data })
    },
  } as unknown as LabPort
  openLab(() => port, {
    address: 'http://lab/',
    query: 'v=1&p=tiny',
    hash: '',
    replaceQuery() {},
    nextFrame: (flush) => flush(),
    recall: () => undefined,
    remember() {},
    now: () => 0,
  })
  labStore.setState({ status: 'idle', adapter: {} as never })
})
afterEach(() => {
  closeLab()
  labStore.setState({ adapter: undefined })
})

function trained(status: 'finished' | 'paused'): void {
  train()
  const { run } = labStore.getState()
  say({ type: 'step', run, step: 1, phase: 0, phase_step: 1, metrics: { loss: 1 } })
  say({ type: 'pairs', run, phase: 0, pairs: [], pending: 0, given: 1, min_pairs: 0, verdicts: '' })
  say({ type: 'status', run, status })
}

const shown = () => {
  const { status, runExperiment, step, series, asked, verdicts, error } = labStore.getState()
  return { status, runExperiment, step, curves: series.size, asked, verdicts, error }
}
const AT_REST = {
  status: 'idle',
  runExperiment: undefined,
  step: 0,
  curves: 0,
  asked: undefined,
  verdicts: {},
  error: undefined,
}

test('a preset that is chosen after a run shows itself and nothing of that run; undo brings the run back', () => {
  trained('finished')
  const before = labStore.getState()
  const sent = commands.length
  choosePreset('tiny-grpo')
  expect(shown()).toEqual(AT_REST)
  expect(nextExperiment(labStore.getState())).toEqual(presetOf('tiny-grpo')?.experiment)
  // What the old run still says is not taken for the new one's, and its worker is left alone.
  say({ type: 'step', run: before.run, step: 2, phase: 0, phase_step: 2, metrics: { loss: 2 } })
  expect(shown()).toEqual(AT_REST)
  expect(commands).toHaveLength(sent)

  const { experiment, preset_id, isBeside } = before
  restoreSettings(structuredClone({ experiment, preset_id, isBeside }), undefined, true)
  expect(labStore.getState()).toEqual(before)
  expect(nextExperiment(labStore.getState())).toBe(before.runDocument)
})

test('redo takes the run off the page again', () => {
  trained('finished')
  const { experiment, preset_id, isBeside } = labStore.getState()
  choosePreset('tiny-grpo')
  const { experiment: other } = labStore.getState()
  restoreSettings({ experiment, preset_id, isBeside }, undefined, true)
  restoreSettings({ experiment: other, preset_id: 'tiny-grpo', isBeside }, undefined, true)
  expect(shown()).toEqual(AT_REST)
})

test('once another run has begun, undo changes the settings alone', () => {
  trained('finished')
  const { experiment, preset_id, isBeside } = labStore.getState()
  choosePreset('tiny-grpo')
  trained('paused')
  const { series } = labStore.getState()
  restoreSettings({ experiment, preset_id, isBeside }, undefined, true)
  expect(labStore.getState()).toMatchObject({ status: 'paused', preset_id: 'tiny' })
  expect(labStore.getState().series).toBe(series)
})

test('a run that is on continues, and one that is over stays while its own experiment is opened or a field is changed', () => {
  trained('paused')
  choosePreset('tiny-grpo')
  expect(labStore.getState()).toMatchObject({ status: 'paused', step: 1 })
  choosePreset('tiny')
  const { run } = labStore.getState()
  say({ type: 'status', run, status: 'finished' })
  choosePreset('tiny')
  editField('seed', 5)
  expect(labStore.getState()).toMatchObject({ status: 'finished', step: 1, run })
})

test('what a document says is to be done by hand is kept, also where it is of the run on the page', () => {
  trained('finished')
  const { experiment } = labStore.getState()
  const steering = [{ step: 3, kind: 'next_phase' }] as const
  expect(openExperiment({ ...experiment, steering }, 'mine.json')).toBeUndefined()
  expect(shown()).toEqual(AT_REST)
  expect(nextExperiment(labStore.getState()).steering).toEqual(steering)
})
