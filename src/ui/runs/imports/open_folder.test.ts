// Several logs that are dropped together are as many runs.
import { expect, test, vi } from 'vitest'
import { EMPTY_LIBRARY, libraryStore } from '../../../page/runs/library/library_store.ts'
import { closePast } from '../../open/opened_run.ts'
import { openTab, uiStore } from '../../shown/store.ts'
import { selectionStore } from '../base/selection.ts'
import { foundRunsStore } from './found_runs.ts'
import { openFolder } from './open_folder.ts'

const lines = (scores: readonly number[]) =>
  scores
    .map((score, step) => `${JSON.stringify({ step, data: { 'critic/score/mean': score } })}\n`)
    .join('')
const TABLE = 'Step,a - loss,b - loss\n0,1,2\n1,0.5,1.5\n'

test('logs that are in no folder are asked for run by run, each called by its file', async () => {
  const files = [
    new File([lines([0.1, 0.2])], 'grpo_seed1.jsonl'),
    new File([lines([0.1, 0.4, 0.5])], 'grpo_seed2.jsonl'),
    new File([TABLE], 'wandb.csv'),
  ]
  const opened = openFolder(files)
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(4)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ run, step }) => [run, step])).toEqual([
    ['grpo_seed1', 1],
    ['grpo_seed2', 2],
    ['wandb, a', 1],
    ['wandb, b', 1],
  ])
  found?.answer([])
  expect(await opened).toBeUndefined()
})

test('a log with the name that a folder gives it takes no other file’s place', async () => {
  const state = JSON.stringify({ best_metric: null, log_history: [{ step: 1, reward: 0.5 }] })
  const files = [
    new File([lines([0.1, 0.2])], 'verl_grpo.jsonl'),
    new File([state], 'trainer_state.json'),
    new File(['{"question": "1+1"}'], 'rows.jsonl'),
    new File(['Notes of mine'], 'notes.txt'),
    new File([state], 'of_seed_2.json'),
    new File(['{"a": 1}'], 'settings.json'),
  ]
  const opened = openFolder(files)
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(3)
  const { found } = foundRunsStore.getState()
  const names = ['trainer_state', 'verl_grpo', 'of_seed_2']
  expect(found?.runs.map(({ run }) => run)).toEqual(names)
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  found?.answer([0, 1, 2])
  expect(await opened).toBeUndefined()
  const { entries } = libraryStore.getState()
  expect(entries.map(({ header }) => header.source?.file)).toContain('trainer_state.json')
  expect(entries.map(({ header }) => header.document.name).sort()).toEqual([
    'of_seed_2',
    'trainer_state',
    'verl_grpo',
  ])
  expect(uiStore.getState().toast).toContain(
    'The same data is here already, as “trainer_state”; this one is called “of_seed_2”.',
  )
  // What is none is not left out without a word.
  expect(uiStore.getState().toast).toMatch(
    /Left out: rows: No column counts the steps.* notes: No metrics were found.* settings: it is no log/,
  )
  closePast()
  openTab('learn')
  libraryStore.setState(EMPTY_LIBRARY)
  selectionStore.setState(selectionStore.getInitialState(), true)
  vi.unstubAllGlobals()
})

test('files that are no logs are refused together', async () => {
  const files = [new File(['x'], 'a.bin'), new File(['y'], 'b.bin')]
  expect((await openFolder(files))?.problems.join()).toContain('there is no log in it')
})

test('a column that counts steps is no metric', async () => {
  const table = 'Step,a - loss,a - train/global_step,b - loss\n0,1,0,2\n1,0.5,10,1.5\n'
  const opened = openFolder([new File([table], 'x.csv'), new File([lines([0.1])], 'y.jsonl')])
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(3)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ metrics }) => metrics)).toEqual([1, 1, 1])
  found?.answer([])
  expect(await opened).toBeUndefined()
})

test('files of one name from several folders are as many runs', async () => {
  const state = (reward: number) =>
    JSON.stringify({ best_metric: null, log_history: [{ step: 1, reward }] })
  const files = [
    new File([state(0.5)], 'trainer_state.json'),
    new File([state(0.7)], 'trainer_state.json'),
    new File([lines([0.1, 0.2])], 'grpo.jsonl'),
    new File([lines([0.1, 0.2, 0.3])], 'grpo.jsonl'),
  ]
  const opened = openFolder(files)
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(4)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ run, step }) => [run, step])).toEqual([
    ['trainer_state', 1],
    ['trainer_state #2', 1],
    ['grpo', 1],
    ['grpo #2', 2],
  ])
  found?.answer([])
  expect(await opened).toBeUndefined()
})

test('runs of several folders that are dropped together are told by their folders', async () => {
  const inFolder = (path: string, scores: readonly number[]) =>
    Object.defineProperty(new File([lines(scores)], 'metrics.jsonl'), 'webkitRelativePath', {
      value: path,
    })
  const opened = openFolder(
    [
      inFolder('seed1/metrics.jsonl', [0.1, 0.2]),
      inFolder('seed2/metrics.jsonl', [0.1, 0.2, 0.3]),
      inFolder('seed2/old/metrics.jsonl', [0.1, 0.2, 0.3, 0.4]),
    ],
    'seed1',
  )
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(3)
  const { found } = foundRunsStore.getState()
  expect(found?.name).toBe('2 folders')
  expect(found?.runs.map(({ run, step }) => [run, step])).toEqual([
    ['seed1', 1],
    ['seed2', 2],
    ['seed2/old', 3],
  ])
  found?.answer([])
  expect(await opened).toBeUndefined()
})

test('runs of files that differ in their endings alone are told by a number', async () => {
  const table = 'Step,a - loss,b - loss\n0,1,2\n1,0.5,1.5\n'
  const files = [new File([table], 'x.csv'), new File([table], 'x.tsv')]
  const opened = openFolder(files)
  await expect.poll(() => foundRunsStore.getState().found?.runs.length).toBe(4)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ run }) => run)).toEqual(['x, a', 'x, b', 'x, a #2', 'x, b #2'])
  found?.answer([])
  expect(await opened).toBeUndefined()
})
