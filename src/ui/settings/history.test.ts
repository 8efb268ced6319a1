import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { PRESETS, presetOf } from '../../document/presets/presets.ts'
import { discardEdits } from '../../page/client/button_edits.ts'
import { train } from '../../page/client/controls.ts'
import { type Edit, editField, keepWrong, onEdit } from '../../page/client/edits.ts'
import { openLab } from '../../page/client/lab.ts'
import { choosePreset, openExperiment } from '../../page/client/opening.ts'
import { labStore } from '../../page/state/store.ts'
import {
  carryOver,
  emptyHistory,
  type History,
  historyStore,
  keepHistory,
  MAX_ENTRIES,
  record,
  redo,
  restored,
  settingWords,
  stepBack,
  stepForth,
  TOGETHER_MS,
  undo,
} from './history.ts'

const tiny = PRESETS[0].experiment
const settings = (seed: number, name = tiny.name) => ({
  experiment: { ...tiny, seed, name },
  preset_id: 'tiny',
  isBeside: false,
})
const seedEdit = (from: number, to: number): Edit => ({
  kind: 'field',
  path: 'seed',
  before: settings(from),
  after: settings(to),
})
const words = ({ past }: History) => past.map((entry) => entry.words)

test('changes of one field in quick succession are one entry', () => {
  let history = record(emptyHistory(), seedEdit(1, 2), 0)
  history = record(history, seedEdit(2, 3), TOGETHER_MS - 1)
  history = record(history, seedEdit(3, 4), 2 * TOGETHER_MS - 2)
  expect(words(history)).toEqual(['Seed 1 → 4'])
  history = record(history, seedEdit(4, 5), 4 * TOGETHER_MS)
  expect(words(history)).toEqual(['Seed 1 → 4', 'Seed 4 → 5'])
})

test('another field, an undo or a preset between them makes two', () => {
  const rename: Edit = {
    kind: 'field',
    path: 'name',
    before: settings(2),
    after: settings(2, 'mine'),
  }
  let history = record(record(emptyHistory(), seedEdit(1, 2), 0), rename, 1)
  expect(history.past.length).toBe(2)
  history = record(stepBack(history), seedEdit(2, 3), 2)
  expect(words(history)).toEqual(['Seed 1 → 2', 'Seed 2 → 3'])
})

test('a slider that comes back leaves no entry, and choosing what is chosen makes none', () => {
  const there = record(emptyHistory(), seedEdit(1, 2), 0)
  expect(record(there, seedEdit(2, 1), 10).past).toEqual([])
  const same: Edit = { kind: 'preset', before: settings(1), after: settings(1) }
  expect(record(there, same, 20)).toBe(there)
})

test('an undone entry can be redone until something else is edited', () => {
  const history = stepBack(record(emptyHistory(), seedEdit(1, 2), 0))
  expect(history.past).toEqual([])
  expect(words(stepForth(history))).toEqual(['Seed 1 → 2'])
  expect(record(history, seedEdit(1, 9), 5000).future).toEqual([])
  expect(stepBack(emptyHistory())).toEqual(emptyHistory())
  expect(stepForth(emptyHistory())).toEqual(emptyHistory())
})

test('the oldest entries are let go', () => {
  let history = emptyHistory()
  for (let i = 0; i < MAX_ENTRIES + 5; i++)
    history = record(history, seedEdit(i, i + 1), i * 2 * TOGETHER_MS)
  expect(history.past.length).toBe(MAX_ENTRIES)
  expect(history.past[0].words).toBe('Seed 5 → 6')
})

test('a change is taken back where it was made, and what came after it stays', () => {
  const from = { a: 1, b: { c: 2, d: 3 }, list: [{ x: 1 }, { x: 2 }] }
  const to = { a: 1, b: { c: 9, d: 3 }, list: [{ x: 1 }, { x: 7 }] }
  const now = { a: 5, b: { c: 2, d: 4 }, list: [{ x: 6 }, { x: 2 }] }
  expect(carryOver(now, from, to)).toEqual({
    a: 5,
    b: { c: 9, d: 4 },
    list: [{ x: 6 }, { x: 7 }],
  })
  // A list that has grown is not cut, and a value that moved on stays.
  expect(carryOver({ list: [1, 2, 3] }, { list: [1, 2] }, { list: [1] })).toEqual({
    list: [1, 2, 3],
  })
  expect(carryOver({ a: 3 }, { a: 2 }, { a: 1 })).toEqual({ a: 3 })
  // What a phase did not set before is gone again, and the other way round.
  expect(carryOver({ a: 1, own: 2 }, { own: 2 }, {})).toEqual({ a: 1 })
  expect(carryOver({ a: 1 }, {}, { own: 2 })).toEqual({ a: 1, own: 2 })
})

test('undo keeps what the run did to the settings meanwhile', () => {
  const now = settings(2, 'renamed by the run')
  expect(restored(now, settings(2), settings(1))?.experiment).toMatchObject({
    seed: 1,
    name: 'renamed by the run',
  })
  expect(restored(settings(3), settings(2), settings(1))).toBeUndefined()
})

test('values are written as people write them', () => {
  expect([1e-4, 3e-5, 0.05, 64, 2e6, 0].map((value) => settingWords(value))).toEqual([
    '0.0001',
    '3e-5',
    '0.05',
    '64',
    '2e6',
    '0',
  ])
  expect(settingWords(true)).toBe('on')
  expect(settingWords('')).toBe('empty')
  expect(settingWords('a', [{ value: 'a', label: 'first' }])).toBe('first')
})

const silent = { postMessage() {}, terminate() {}, addEventListener() {} }

// One test loads modules of its own.
afterAll(() => void vi.resetModules())

beforeEach(() => {
  // What other tests of this thread edited.
  onEdit(() => {})
  openLab(() => silent, {
    address: 'http://lab/',
    query: 'v=1&p=tiny',
    hash: '',
    replaceQuery() {},
    nextFrame() {},
    recall: () => undefined,
    remember() {},
    now: () => 0,
  })
})

test('fields, presets and files are undone and redone, newest first', () => {
  let now = 0
  keepHistory(() => now)
  const edited = () => {
    now += 2 * TOGETHER_MS
    return labStore.getState()
  }
  const first = edited().experiment
  editField('actor.optim.lr', 3e-4)
  edited()
  choosePreset('tiny-grpo')
  edited()
  const grpo = presetOf('tiny-grpo')?.experiment
  openExperiment({ ...first, seed: 77 }, 'mine.json')
  expect(labStore.getState().preset_id).toBe('tiny')
  expect(historyStore.getState().past.map((entry) => entry.words)).toEqual([
    `Learning rate ${settingWords(first.actor.optim.lr)} → 0.0003`,
    'open Tiny: GRPO, as many rollouts',
    'open mine.json',
  ])
  expect(undo()).toBe('Undone: open mine.json')
  expect(labStore.getState().experiment).toEqual(grpo)
  expect(labStore.getState().preset_id).toBe('tiny-grpo')
  undo()
  expect(labStore.getState().experiment.actor.optim.lr).toBe(3e-4)
  expect(undo()).toBe('Learning rate is 0.001 again')
  expect(labStore.getState().experiment).toEqual(first)
  expect(undo()).toBeUndefined()
  expect(redo()).toBe('Learning rate is 0.0003 again')
  redo()
  expect(labStore.getState().experiment).toEqual(grpo)
  expect(redo()).toBe('Redone: open mine.json')
  expect(redo()).toBeUndefined()
})

test('undoing the choice of a preset brings the run back that was on the page, and redoing takes it off again', () => {
  keepHistory(() => 0)
  train()
  labStore.setState({ status: 'finished', step: 7 })
  const { runDocument } = labStore.getState()
  choosePreset('tiny-grpo')
  expect(labStore.getState()).toMatchObject({ step: 0, runDocument: undefined })
  undo()
  expect(labStore.getState()).toMatchObject({ status: 'finished', step: 7, runDocument })
  redo()
  expect(labStore.getState()).toMatchObject({ step: 0, runDocument: undefined })
})

test('an edit before the page keeps a history can be undone, too', async () => {
  vi.resetModules()
  const fresh = {
    ...(await import('../../page/client/edits.ts')),
    ...(await import('./history.ts')),
  }
  fresh.editField('seed', 41)
  fresh.keepHistory(() => 0)
  expect(fresh.historyStore.getState().past.map(({ path }) => path)).toEqual(['seed'])
})

test('a refused edit leaves no entry', () => {
  keepHistory(() => 0)
  expect(editField('seed', 'three')).toBeDefined()
  expect(historyStore.getState().past).toEqual([])
})

test('a phase that is put between others is named by its place', () => {
  keepHistory(() => 0)
  const { phases } = labStore.getState().experiment
  editField('phases', [phases[0], { ...phases[0], name: 'new' }, ...phases.slice(1)])
  expect(undo()).toBe('Undone: add phase 2')
})

test('phases that are added and removed are undone', () => {
  keepHistory(() => 0)
  const { phases } = labStore.getState().experiment
  editField('phases', phases.slice(1))
  expect(historyStore.getState().past.at(-1)?.words).toBe('remove phase 1')
  expect(undo()).toBe('Undone: remove phase 1')
  expect(labStore.getState().experiment.phases).toEqual(phases)
})

test('undo leaves out what a run that was reset has done by hand to the field', () => {
  keepHistory(() => 0)
  const { experiment } = labStore.getState()
  const before = experiment.actor.optim.lr
  editField('actor.optim.lr', 0.01)
  // As after a reset: the value that the run began with, and what was done to it.
  const done = { step: 6, kind: 'set', path: 'actor.optim.lr', value: 0.01 } as const
  const later = { ...done, step: 9, path: 'rollout.temperature', value: 0.9 }
  labStore.setState({ experiment: { ...experiment, steering: [done, later] } })
  expect(undo()).toBe(`Learning rate is ${settingWords(before)} again`)
  expect(labStore.getState().experiment.steering).toEqual([later])
  expect(labStore.getState().experiment.actor.optim.lr).toBe(before)
})

test('what a field did not take is undone first, and nothing else with it', () => {
  choosePreset('tiny')
  const { experiment } = labStore.getState()
  const before = historyStore.getState().past.length
  keepWrong({ path: 'actor.optim.lr', label: 'Learning rate', text: '-3', problem: 'too low' })
  expect(undo()).toBe('Learning rate is 0.001 again')
  expect(labStore.getState().wrongFields).toEqual([])
  expect(labStore.getState().experiment).toEqual(experiment)
  expect(historyStore.getState().past).toHaveLength(before)
})

test('undo says that a phase which was inserted meanwhile stays, and never that there is nothing', () => {
  choosePreset('tiny')
  train()
  labStore.setState({ status: 'running' })
  keepHistory()
  const before = labStore.getState().experiment.actor.optim.lr
  editField('actor.optim.lr', 0.004)
  const insert = { kind: 'insert_phase', phase: tiny.phases[0] } as const
  labStore.setState({ steered: [{ entry: { step: 3, ...insert }, refused: undefined }] })
  expect(undo()).toBe(
    `Learning rate is ${settingWords(before)} again. The phases of the run stay as they were changed since.`,
  )
  expect(undo()).toContain('cannot be undone')
  // What is edited after it is undone as ever.
  editField('actor.optim.lr', 0.005)
  expect(undo()).toBe(`Learning rate is ${settingWords(before)} again`)
  // Of a run that is over nothing is left to undo.
  labStore.setState({ status: 'finished' })
  expect(undo()).toBeUndefined()
})

test('undo of a choice beside a run brings back what the run is now, and what it never was follows nothing', () => {
  keepHistory(() => 0)
  editField('seed', 41)
  train()
  labStore.setState({ status: 'running' })
  const steer = (lr: number) => {
    const { runExperiment } = labStore.getState()
    if (!runExperiment) throw new Error('there is no run')
    const { actor } = runExperiment
    const steered = { ...runExperiment, actor: { ...actor, optim: { ...actor.optim, lr } } }
    labStore.setState({ runExperiment: steered })
    return steered
  }
  choosePreset('tiny-dapo')
  const first = steer(0.004)
  undo()
  expect(labStore.getState()).toMatchObject({ experiment: first, preset_id: 'tiny' })
  expect(labStore.getState().isBeside).toBe(false)
  redo()
  expect(labStore.getState()).toMatchObject({ preset_id: 'tiny-dapo', isBeside: true })
  const second = steer(0.005)
  discardEdits()
  expect(labStore.getState().experiment).toBe(second)
  undo()
  expect(labStore.getState()).toMatchObject({ preset_id: 'tiny-dapo', isBeside: true })
  // The other run's settings, which no longer are on the page.
  train()
  labStore.setState({ status: 'running' })
  undo()
  expect(labStore.getState()).toMatchObject({ preset_id: 'tiny', isBeside: true })
})
