import { strToU8, zipSync } from 'fflate'
import { beforeEach, expect, test, vi } from 'vitest'
import { NO_OPTIONS } from '../../../document/links/view_options.ts'
import { PRESETS } from '../../../document/presets/presets.ts'
import { closeLab, openLab } from '../../../page/client/lab.ts'
import { openExperiment } from '../../../page/client/opening.ts'
import { openRun } from '../../../page/runs/library/library.ts'
import { libraryStore } from '../../../page/runs/library/library_store.ts'
import { shareStore } from '../../../page/state/share_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { runName } from '../../../record/run/names.ts'
import { openedDataStore } from '../../data/open_data.ts'
import { dialogStore } from '../../open/dialogs.ts'
import { fileStore } from '../../open/file_store.ts'
import { closePast, openedStore } from '../../open/opened_run.ts'
import { shownRunWords } from '../../open/shown_run.ts'
import { foundRunsStore } from '../../runs/imports/found_runs.ts'
import { isImported } from '../../shown/shown.ts'
import { openTab, uiStore } from '../../shown/store.ts'
import { openFile, openFiles, readExperimentText } from './open_files.ts'

const tiny = PRESETS[0].experiment
const file = (text: string, name = 'mine.json') => new File([text], name)
const problems = () => fileStore.getState().problem?.problems.join('\n')

beforeEach(() => {
  const silent = { postMessage() {}, terminate() {}, addEventListener() {} }
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
  fileStore.setState({ problem: undefined })
  return closeLab
})

test('an experiment comes back as it was saved', () => {
  expect(readExperimentText(JSON.stringify(tiny))).toEqual({ ok: true, experiment: tiny })
})

test('understory.json of an exported job opens the experiment that the job was made from', async () => {
  const changed = { ...tiny, name: 'Exported' }
  const job = { format: 'understory-job-1', target: 'bupo', experiment: changed, files: [] }
  await openFile(file(JSON.stringify(job, undefined, 2), 'understory.json'))
  expect(problems()).toBeUndefined()
  expect(labStore.getState().experiment).toEqual(changed)
})

test('a file opens in the settings', async () => {
  await openFile(file(JSON.stringify({ ...tiny, seed: 41 })))
  expect(labStore.getState().experiment.seed).toBe(41)
  expect(uiStore.getState().toast).toContain('mine.json')
  expect(problems()).toBeUndefined()
})

test.for(['experiment', 'settings', 'phases'] as const)(
  'a page whose link locks the %s opens no file, and says why',
  async (lock) => {
    shareStore.setState({ options: { ...NO_OPTIONS, lock: [lock] } })
    const before = labStore.getState()
    for (const name of ['mine.json', 'mine.safetensors']) {
      fileStore.setState({ problem: undefined })
      await openFile(file(JSON.stringify({ ...tiny, seed: 41 }), name))
      expect(problems()).toMatch(/opened by a link that locks it\.\nNo file can be opened until/)
    }
    expect(openExperiment({ ...tiny, seed: 41 }, 'mine')).toMatch(/locks it/)
    expect(labStore.getState()).toBe(before)
    shareStore.setState({ options: NO_OPTIONS })
  },
)

test('a file with mistakes names every field, and changes nothing', async () => {
  const before = labStore.getState()
  const wrong = { ...tiny, seed: 'three', rollout: { ...tiny.rollout, n: 0 } }
  await openFile(file(JSON.stringify(wrong)))
  expect(problems()).toMatch(/^Seed: expected a whole number/m)
  expect(problems()).toMatch(/^Responses per prompt: expected/m)
  expect(labStore.getState()).toBe(before)
})

test.for([
  ['broken.json', '{"seed": '],
  ['null.json', 'null'],
  ['large.json', `"${'x'.repeat(1_100_000)}"`],
])('%s is refused with what can be opened', async ([name, text]) => {
  const before = labStore.getState()
  await openFile(file(text, name))
  expect(fileStore.getState().problem?.name).toBe(name)
  expect(problems()).toMatch(/Experiments can be opened here/)
  expect(labStore.getState()).toBe(before)
})

test.for([
  ['rows.csv', 'question,answer\n1,2'],
  ['rows.jsonl', '{"step": 1, "answer": 2}'],
  ['rows.json', '{"rows": [{"a": 1}]}'],
  ['list.json', '[{"a": 1}]'],
  ['book.txt', 'It was a dark night.'],
])('%s is opened as data', async ([name, text]) => {
  const before = labStore.getState()
  await openFile(file(text, name))
  expect(problems()).toBeUndefined()
  expect(openedDataStore.getState().file?.name).toBe(name)
  expect(dialogStore.getState().open).toBe('data')
  expect(labStore.getState()).toBe(before)
})

test.each([
  { keys: Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`k${i}`, i])) },
  { runs: [{ per_seed: [{ entropy: Array(3000).fill(1) }] }] },
])('JSON of something else is said to be no log and no experiment', (document) => {
  const read = readExperimentText(JSON.stringify(document))
  if (read.ok) throw new Error('expected a refusal')
  expect(read.problems).toHaveLength(2)
  expect(read.problems[0]).toBe('It is neither a log nor an experiment.')
  expect(read.problems[1]).toMatch(/^Experiments can be opened here/)
})

test('a log of verl becomes a run of the list, and what was left out is said', async () => {
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  const text = '{"step": 1, "data": {"critic/score/mean": 0.5}}\nnothing\n{"step": 2, "da'
  await openFile(file(text, 'cluster.jsonl'))
  expect(problems()).toBeUndefined()
  const [entry] = libraryStore.getState().entries
  expect(entry.header).toMatchObject({ status: 'finished', step: 1, source: { kind: 'verl' } })
  expect(entry.header.experiment.name).toBe('cluster')
  expect(uiStore.getState().toast).toMatch(/Imported cluster\.jsonl: 1 step\. 1 part of the file/)
  const { state } = await openRun(entry.id)
  expect(state.series.get('critic/score/mean')?.values[0]).toBe(0.5)
  // The page shows it, and says nothing of settings that no log has.
  expect(openedStore.getState().opened?.id).toBe(entry.id)
  expect(isImported()).toBe(true)
  expect(runName(entry)).toMatchObject({ name: 'cluster', from: 'cluster' })
  expect(shownRunWords()).toBe('“cluster”')
  closePast()
  expect(isImported()).toBe(false)
  openTab('learn')
  vi.unstubAllGlobals()
})

test('of a log with several runs those are kept that a person chooses', async () => {
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  const before = libraryStore.getState().entries.length
  const text = 'Step,one - loss,two - loss\n1,0.5,0.25\n'
  const opening = openFile(file(text, 'wandb.csv'))
  await vi.waitFor(() => expect(foundRunsStore.getState().found?.runs).toHaveLength(2))
  foundRunsStore.getState().found?.answer([1])
  await opening
  expect(problems()).toBeUndefined()
  expect(dialogStore.getState().open).toBeUndefined()
  const { entries } = libraryStore.getState()
  expect(entries.length).toBe(before + 1)
  expect(entries.some((entry) => runName(entry).name === 'two')).toBe(true)
  closePast()
  openTab('learn')
  vi.unstubAllGlobals()
})

test('a file that is called a log and is none is refused in a sentence', async () => {
  await openFile(file('hello', 'events.out.tfevents.1'))
  expect(problems()).toMatch(/no event file of TensorBoard/)
})

test.for<[string, string, RegExp]>([
  ['model.safetensors', 'version https://git-lfs.github.com/spec/v1\nsize 9\n', /Git LFS pointer/],
  ['model.gguf', 'GGUF\x03', /It is a GGUF file .*safetensors/],
  ['config.json', '<!doctype html><html>', /It is a web page; download the file itself/],
])('%s that is something else is named by what it is', async ([name, text, words]) => {
  await openFile(file(text, name))
  expect(problems()).toMatch(words)
})

test('a folder of weights that are no safetensors names them, and what to do', async () => {
  await openFiles([file('GGUF\x03', 'model-q4.gguf'), file('# A model', 'README.md')], 'model')
  expect(problems()).toMatch(/model-q4\.gguf: It is a GGUF file .*safetensors/)
})

test('a zip archive of logs is opened as they are, and one that is cut off says so', async () => {
  const lines = strToU8('{"step": 1, "data": {"a": 1}}\n{"step": 2, "data": {"a": 2}}\n')
  const bytes = zipSync({ 'out/first.jsonl': lines, 'out/second.jsonl': lines })
  const zip = (to?: number) => new File([bytes.slice(0, to) as Uint8Array<ArrayBuffer>], 'runs.zip')
  const opening = openFile(zip())
  await vi.waitUntil(() => foundRunsStore.getState().found !== undefined)
  const { found } = foundRunsStore.getState()
  expect(found?.runs.map(({ run, step }) => [run, step])).toEqual([
    ['first', 2],
    ['second', 2],
  ])
  found?.answer([])
  await opening
  expect(problems()).toBeUndefined()
  await openFile(zip(-30))
  expect(problems()).toMatch(/^It is a zip archive that is cut off or damaged/)
})
