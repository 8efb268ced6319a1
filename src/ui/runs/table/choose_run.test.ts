import { strToU8, zipSync } from 'fflate'
import { afterEach, expect, test, vi } from 'vitest'
import { NO_OPTIONS } from '../../../document/links/view_options.ts'
import { EMPTY_LIBRARY, libraryStore } from '../../../page/runs/library/library_store.ts'
import { shareStore } from '../../../page/state/share_store.ts'
import { openedDataStore } from '../../data/open_data.ts'
import { chosenStore, fileStore } from '../../open/file_store.ts'
import { closePast } from '../../open/opened_run.ts'
import { openTab } from '../../shown/store.ts'
import { openAnyhow, openRunFiles, refusedStore } from './choose_run.ts'

const file = (name: string, text: string) => new File([text], name)
const refused = () => refusedStore.getState().refused

afterEach(() => {
  refusedStore.setState({ refused: undefined })
  chosenStore.setState({ files: [] })
  openedDataStore.setState({ file: undefined })
})

test.for<[string, string, RegExp, RegExp | undefined]>([
  ['score.py', 'x', /a program, not a run/, undefined],
  ['notes.md', '# Notes of mine', /seems to be text/, /as data/],
  ['rows.json', '[{"question": "1+1", "answer": 2}]', /rows to train on/, /as data/],
  ['rows.jsonl', '{"question": "1+1", "answer": 2}', /does not count steps/, /as data/],
  ['mine.json', '{"phases": [], "task": {}}', /settings of an experiment/, /all the same/],
  ['other.json', '{"a": 1}', /without a list “log_history”/, /all the same/],
  ['cut.json', '{"a":', /not valid JSON: Unexpected end of JSON input\.$/, /all the same/],
  ['comma.json', '{"a": 1,}', /not valid JSON: .* position 8/, /all the same/],
  ['weights.bin', 'GGUF\x03', /a GGUF file/, undefined],
  ['model.safetensors', 'x', /a checkpoint or a model/, /all the same/],
])(
  '%s is refused where a run is asked for, beside the button',
  async ([name, text, seems, offer]) => {
    const log = file('log.jsonl', '{"step": 1, "data": {"a": 1}}')
    for (const files of [[file(name, text)], [log, log, file(name, text)]]) {
      chosenStore.setState({ files: [] })
      await openRunFiles(files)
      expect(refused()).toMatchObject({ file: { name }, problems: [expect.stringMatching(seems)] })
      if (offer) expect(refused()?.offer).toMatch(offer)
      else expect(refused()?.offer).toBeUndefined()
      // It is not opened as something else, and the logs beside it are imported.
      expect(chosenStore.getState().files).toEqual(files.slice(0, -1))
      expect(openedDataStore.getState().file).toBeUndefined()
      expect(fileStore.getState().problem).toBeUndefined()
    }
  },
)

test('what is no run is opened as what it is, once somebody wants that', async () => {
  await openRunFiles([file('notes.md', '# Notes of mine')])
  const found = refused()
  if (!found) throw new Error('nothing was refused')
  openAnyhow(found)
  expect(refused()).toBeUndefined()
  expect(chosenStore.getState().files).toEqual([found.file])
})

test('a log is imported; one that cannot be read is said beside the button', async () => {
  vi.stubGlobal('location', { pathname: '/', search: '', hash: '' })
  vi.stubGlobal('history', { state: null, replaceState() {}, pushState() {} })
  await openRunFiles([file('events.out.tfevents.1', 'hello')])
  expect(refused()?.problems.join()).toMatch(/no event file of TensorBoard/)
  await openRunFiles([file('nulls.jsonl', '{"step": 0, "reward": null}\n')])
  expect(refused()?.problems.join()).toMatch(/^It counts steps, but has no number beside them/)
  // A lone file of answers looks like rows, and is a log all the same.
  await openRunFiles([file('10.jsonl', '{"input": "1+1", "output": "2", "score": 1, "step": 10}')])
  expect(refused()).toBeUndefined()
  expect(libraryStore.getState().entries[0].header.source?.kind).toBe('generations')
  closePast()
  openTab('learn')
  libraryStore.setState(EMPTY_LIBRARY)
  vi.unstubAllGlobals()
})

test('several logs go the way of every folder', async () => {
  const logs = ['a.jsonl', 'b.jsonl'].map((name) => file(name, '{"step": 1, "data": {"a": 1}}'))
  await openRunFiles(logs)
  expect(chosenStore.getState().files).toEqual(logs)
})

const zip = (entries: Readonly<Record<string, string>>) =>
  zipSync(
    Object.fromEntries(Object.entries(entries).map(([path, text]) => [path, strToU8(text)])),
  ) as Uint8Array<ArrayBuffer>
const LINE = '{"step": 1, "data": {"a": 1}}'

test('the logs of a zip archive are taken out of it, by the folders that they are in', async () => {
  const files = {
    'runs/a/trainer_state.json': '{"log_history": []}',
    'runs/b.jsonl': LINE,
    'runs/config.json': '{}',
    'runs/readme.txt': 'hello',
    'runs/model.safetensors': 'x',
  }
  await openRunFiles([new File([zip(files)], 'runs.zip')])
  expect(refused()).toBeUndefined()
  expect(chosenStore.getState().files.map(({ name }) => name)).toEqual([
    'a/trainer_state.json',
    'b.jsonl',
  ])
  expect(await chosenStore.getState().files[1].text()).toBe(LINE)
})

test.for<[string, Uint8Array<ArrayBuffer>, RegExp, boolean]>([
  ['cut.zip', zip({ 'a.jsonl': LINE }).slice(0, -30), /is cut off or damaged/, false],
  ['bundle.zip', zip({ 'experiment.json': '{}', 'a.jsonl': LINE }), /It is a bundle/, true],
  ['model.zip', zip({ 'm/config.json': '{}' }), /none of its files is a log/, false],
  ['job.zip', zip({ 'j/understory.json': '{}', 'j/rows.jsonl': '{}' }), /none of its/, false],
  ['page.zip', strToU8('<html>') as Uint8Array<ArrayBuffer>, /and is none\.$/, false],
])('%s has no logs, and it is said why', async ([name, bytes, seems, isOffered]) => {
  await openRunFiles([new File([bytes], name)])
  expect(refused()?.problems).toEqual([expect.stringMatching(seems)])
  expect(refused()?.offer !== undefined).toBe(isOffered)
})

test('a page whose link locks it imports nothing', async () => {
  shareStore.setState({ options: { ...NO_OPTIONS, lock: ['experiment'] } })
  await openRunFiles([file('log.jsonl', '{"step": 1, "data": {"a": 1}}')])
  expect(refused()?.problems.join()).toMatch(/locks it/)
  shareStore.setState({ options: NO_OPTIONS })
})
