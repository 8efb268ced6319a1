import { expect, test } from 'vitest'
import { MAX_NOTES } from '../../page/runs/record/read_labels.ts'
import { type ImportedLog, LogError } from './base/imported_log.ts'
import { importedRun } from './imported_run.ts'
import { folderLogs } from './log_files.ts'
import { logReader, readLogs } from './read_log.ts'
import { importedRunsText } from './run_file.ts'

const utf8 = new TextEncoder()

async function* pieces(text: string) {
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; at += 64) yield bytes.subarray(at, at + 64)
}

const read = async (files: Readonly<Record<string, string>>) => {
  const named = Object.entries(files).map(([name, text]) => ({ name, pieces: () => pieces(text) }))
  return (await readLogs('generations', named))[0]
}

/** A line as verl writes it for the job of a task of the lab. */
const line = (input: string, output: string, score: number, step: number, more: object = {}) =>
  `${JSON.stringify({ input, output, gts: '12', score, step, reward: score, acc: score, ...more })}\n`

const values = ({ series }: ImportedLog, name: string) => {
  const column = series.get(name)
  return column && [...column.values.slice(0, column.length)]
}

const TWO = {
  '10.jsonl': line('21=', '12', 1, 10) + line('21=', '21', 0, 10) + line('12=', '12', 1, 10),
  '2.jsonl': line('21=', '21', 0, 2) + line('21=', '1', 0, 2) + line('12=', '12', 1, 2),
}

test('every file is a validation, in the order of their steps, with verl’s own metrics', async () => {
  const log = await read(TWO)
  expect(log.step).toBe(10)
  // Two answers to 21= and one to 12=: prompts with different numbers of answers have metrics of
  // their own, as in verl.
  expect(values(log, 'val-core/validation/acc/mean@2')).toEqual([0, 0.5])
  expect(values(log, 'val-aux/validation/acc/mean@1')).toEqual([1, 1])
  expect(values(log, 'val-aux/validation/reward/mean@2')).toEqual([0, 0.5])
  expect(log.generations.map(({ step, item }) => [step, item.length])).toEqual([
    [2, 3],
    [10, 3],
  ])
  expect(log.generations[1].item[1]).toEqual({ input: '21=', output: '21', gts: '12', score: 0 })
  expect(log.remarks).toEqual([])
})

test('the source of a row is the one that its column names, and pred is voted on', async () => {
  const at = (pred: string, score: number) =>
    line('a', pred, score, 1, { data_source: 'understory/sort_digits', pred })
  const log = await read({ '1.jsonl': at('x', 1) + at('x', 1) + at('y', 0) + at('x', 1) })
  expect(values(log, 'val-core/understory/sort_digits/acc/mean@4')).toEqual([0.75])
  const [majority] = values(log, 'val-core/understory/sort_digits/acc/maj@4/mean') ?? []
  expect(majority).toBeGreaterThan(0.75)
  const { header } = importedRun('gens', log, { id: 'r', now: 0, version: '0' })
  expect(header.experiment.task.id).toBe('sort_digits')
  expect(header.metrics['val-core/sort_digits/acc/mean@4']).toBe(0.75)
})

test('as a run, the answers are there to read', async () => {
  const log = await read(TWO)
  const { header, items } = importedRun('gens', log, { id: 'r', now: 0, version: '0' })
  expect(header.source).toMatchObject({ kind: 'generations', file: 'gens' })
  expect(items.map(({ run, kind, step }) => [run, kind, step])).toEqual([
    ['r', 'generations', 2],
    ['r', 'generations', 10],
  ])
})

test('written as one file, the run is read back', async () => {
  const log = await read(TWO)
  const text = importedRunsText([log])
  expect(logReader('run.jsonl', utf8.encode(text))).toBe('lines')
  const [again] = await readLogs('lines', [{ name: 'run.jsonl', pieces: () => pieces(text) }])
  expect(again).toEqual(log)
})

test('what cannot be read is said, and the rest is kept', async () => {
  const log = await read({
    '1.jsonl': `${line('a', 'b', 1, 1)}{"input": "a", "out\n${line('c', 'd', 0, 1)}`,
    '2.jsonl': '',
    '3.jsonl': '{"input": "a", "score": 1, "step": 3}\n{"input": "a", "output": "b", "step": 3}\n',
    '4.jsonl': line('a', 'b', 1, 4, { bonus: 2 }) + line('c', 'd', 0, 4),
    '04.jsonl': line('a', 'b', 0, 4),
  })
  expect(values(log, 'val-core/validation/acc/mean@1')).toEqual([0.5, 0.5])
  expect(log.remarks).toEqual([
    '3 parts of the file could not be read and were left out, the first of them line 2 of 1.jsonl (no JSON object).',
    '2.jsonl is empty.',
    'Some answers of step 4 have no bonus; it was left out there.',
    '04.jsonl is of step 4, as 4.jsonl is, and was left out.',
  ])
})

test('a score that is none and a file without one line are refused in a sentence', async () => {
  await expect(read({ '1.jsonl': '' })).rejects.toThrow(
    'Nothing of verl’s validation generations was found in the file. 1.jsonl is empty.',
  )
  const nan = '{"input": "a", "output": "b", "gts": null, "score": NaN, "step": 1}\n'
  await expect(read({ '1.jsonl': nan })).rejects.toThrow('line 1 of 1.jsonl (score is no number)')
})

test('of many long answers only the first are kept, and all are counted', async () => {
  const long = 'x'.repeat(20_000)
  const text = Array.from({ length: 300 }, (_, i) => line(`${i}`, long, i % 2, 5)).join('')
  const log = await read({ '5.jsonl': text })
  expect(values(log, 'val-core/validation/acc/mean@1')).toEqual([0.5])
  const [{ item }] = log.generations
  expect(item.length).toBe(128)
  expect(item[0].output.length).toBeLessThan(MAX_NOTES)
})

test('the files of a folder that belong together', () => {
  const filesOf = (names: string[]) => folderLogs(names, 'd').map(({ files }) => files)
  expect(filesOf(['2.jsonl', '10.jsonl', 'notes.txt'])).toEqual([['2.jsonl', '10.jsonl']])
  expect(filesOf(['metrics.jsonl', '2.jsonl'])).toEqual([['metrics.jsonl']])
  expect(() => filesOf(['a.txt'])).toThrow(LogError)
  expect(logReader('7.jsonl', new Uint8Array())).toBe('generations')
  expect(logReader('val.jsonl', utf8.encode('{"input": "a", "output"'))).toBe('generations')
})
