import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { writeBundle } from '../../host/content/bundle.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { createTools } from '../../tasks/tools/index.ts'
import { readOptions } from '../train/train_options.ts'
import { cacheFolder } from './content_folder.ts'
import { givenData, loadNamedFiles } from './data_set.ts'
import { readGivenModel } from './given_model.ts'

const JOB = 'conformance/fixtures/trl/repeat_digit'
const folder = mkdtempSync(join(tmpdir(), 'understory-given-'))
vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'))
afterAll(() => rmSync(folder, { recursive: true }))

const [TRAIN, VAL] = [`${JOB}/data/train.jsonl`, `${JOB}/data/val.jsonl`]
/** The experiment of *tiny* on the rows of files. */
async function experimentOn(data: string, val?: string): Promise<Experiment> {
  const args = ['--data', data, ...(val === undefined ? [] : ['--val-data', val])]
  const { run } = await readOptions(['tiny', ...args, '--seed', '5'])
  if ('resume' in run) throw new Error('expected a new run')
  return run.experiment
}

test('a job’s rows are a task, with its validation rows held out', async () => {
  const experiment = await experimentOn(TRAIN, VAL)
  expect(experiment.seed).toBe(5)
  expect(experiment.task).toMatchObject({
    id: 'dataset',
    name: 'train.jsonl',
    val_name: 'val.jsonl',
    max_prompt_length: 2,
    max_response_length: 2,
    train_size: 1024,
    test_size: 10,
  })
  const given = await givenData({ data: TRAIN, 'val-data': VAL })
  await loadNamedFiles(experiment, given, () => {})
  const task = taskOf(experiment.task)
  expect(task.sample(1, 0, 'train_set')).toMatchObject({
    prompt: '6=',
    ground_truth: '6',
    demonstration: '6',
    data_source: 'understory/repeat-digit',
    extra_info: { index: 0, split: 'train' },
  })
  expect(task.score('6=', '6')).toBe(1)
})

const lines = readFileSync(VAL, 'utf8').split('\n')
function write(name: string, count: number) {
  const file = join(folder, name)
  writeFileSync(file, lines.slice(0, count).join('\n'))
  return file
}

test('without rows for validation the last fifth is held out, and too few rows are refused', async () => {
  const { task } = await experimentOn(write('ten.jsonl', 10))
  expect(task).toMatchObject({ train_size: 8, test_size: 2 })
  await expect(experimentOn(write('four.jsonl', 4))).rejects.toThrow(/5 rows or more/)
})

test('without weights to begin with, the vocabulary is the characters of the rows', async () => {
  const file = join(folder, 'words.csv')
  writeFileSync(
    file,
    `question,answer\n${'why,because\n'.repeat(1)}${[1, 2, 3, 4].map((d) => `is ${d},${d}\n`).join('')}`,
  )
  const { task } = await experimentOn(file)
  expect(task).toMatchObject({ tokenizer: 'characters', prompt_key: 'question', train_size: 4 })
  expect(task.vocab_size).toBe(2 + new Set('whybecauseis 1234').size)
  const { run } = await readOptions(['tiny', '--data', TRAIN, '--warm-start', 'x'])
  expect(run).toMatchObject({ experiment: { task: { tokenizer: 'arithmetic', vocab_size: 26 } } })
  await expect(readOptions(['tiny', '--data', file, '--warm-start', 'x'])).rejects.toThrow(
    /words\.csv: line 2, column question: the vocabulary has no "w".*5 rows hold what the vocabulary lacks/,
  )
})

test('a file is kept for later runs, which need not name it again', async () => {
  const file = write('kept.jsonl', 10)
  const experiment = await experimentOn(file)
  await expect(loadNamedFiles(experiment, undefined, () => {})).rejects.toThrow(
    /uses kept\.jsonl \(sha256-[0-9a-f]{64}\), which is not on this machine/,
  )
  const other = await givenData({ data: write('other.jsonl', 9) })
  await expect(loadNamedFiles(experiment, other, () => {})).rejects.toThrow(
    /found other\.jsonl \(sha256-/,
  )
  await loadNamedFiles(experiment, await givenData({ data: file }), () => {})
  rmSync(file)
  await loadNamedFiles(experiment, undefined, () => {})
  const name = `${experiment.task.data}`
  writeFileSync(join(cacheFolder(), name), 'damaged')
  await expect(loadNamedFiles(experiment, undefined, () => {})).rejects.toThrow(/not on this/)
})

test('a data file by itself is an experiment', async () => {
  const file = join(folder, 'sums.csv')
  writeFileSync(
    file,
    `sum,total\n${Array.from({ length: 40 }, (_, i) => `${i}+1=,${i + 1}`).join('\n')}`,
  )
  const { run, data } = await readOptions([file, '--seed', '7'])
  if ('resume' in run) throw new Error('expected a new run')
  expect(run.experiment).toMatchObject({
    name: 'sums.csv',
    seed: 7,
    task: { prompt_key: 'sum', train_size: 32, test_size: 8 },
    data: { train_max_samples: 32 },
    validation: { prompts: 8 },
  })
  await loadNamedFiles(run.experiment, data, () => {})
  expect(taskOf(run.experiment.task).score('3+1=', '4')).toBe(1)
  await expect(readOptions([file, '--model', 'x'])).rejects.toThrow(
    /name an experiment or a preset/,
  )
  const text = join(folder, 'book.txt')
  writeFileSync(text, 'It was a dark and stormy night.\n'.repeat(40))
  const ofText = (await readOptions([text])).run
  expect(ofText).toMatchObject({
    experiment: { phases: [{ kind: 'sft' }], task: { prompt_key: null, max_response_length: 64 } },
  })
})

test('a bundle brings an experiment and its files', async () => {
  const file = write('bundled.jsonl', 10)
  const experiment = await experimentOn(file)
  const given = await givenData({ data: file })
  const bundle = join(folder, 'bundle.zip')
  writeFileSync(bundle, writeBundle(experiment, given ? [given.train] : []))
  rmSync(file)
  const { run, data, bundled } = await readOptions([bundle, '--seed', '9'])
  if ('resume' in run) throw new Error('expected a new run')
  expect(run.experiment).toEqual({ ...experiment, seed: 9 })
  await loadNamedFiles(run.experiment, data, () => {}, bundled)
  expect(taskOf(run.experiment.task).test_size).toBe(2)
})

test('a file of 2 GB is refused before it is read', async () => {
  const file = join(folder, 'huge.jsonl')
  writeFileSync(file, '')
  truncateSync(file, 2 ** 31)
  await expect(readOptions(['tiny', '--data', file])).rejects.toThrow(
    /huge\.jsonl: expected at most 256 MiB, found 2048 MiB; take a part of it/,
  )
})

test('rows that cannot be used are refused, or left out where a person says so', async () => {
  const file = join(folder, 'broken.jsonl')
  writeFileSync(file, [...lines.slice(0, 9), 'no JSON'].join('\n'))
  await expect(readOptions(['tiny', '--data', file])).rejects.toThrow(
    /--data: broken\.jsonl: line 10: expected one JSON object.* To leave such rows out: --skip-bad-rows/,
  )
  const { run } = await readOptions(['tiny', '--data', file, '--skip-bad-rows'])
  expect(run).toMatchObject({ experiment: { task: { skip_bad_rows: true, train_size: 8 } } })
  await expect(readOptions(['tiny', '--skip-bad-rows'])).rejects.toThrow(/there is no --data/)
})

test('--tool lets the policy call a program, in a second turn', async () => {
  const file = join(folder, 'dice.py')
  writeFileSync(file, 'def execute(parameters): return "4"')
  const args = ['calculator-products', '--tool', file]
  await expect(readOptions(args)).rejects.toThrow(/--tool: dice\.py: expected a tool that says/)
  const properties = '{"sides": {"type": "string", "description": ""}}'
  const parameters = `{"type": "object", "properties": ${properties}, "required": []}`
  writeFileSync(
    file,
    `tool_schema = {"type": "function", "function": {"name": "dice", "description": "", "parameters": ${parameters}}}`,
  )
  const { run, tools } = await readOptions(args)
  if ('resume' in run) throw new Error('expected a new run')
  const own = { id: 'program', code: tools[0].hash, name: 'dice.py' }
  expect(run.experiment.tools).toEqual([{ id: 'calculator' }, own])
  const alone = (await readOptions(['tiny', '--tool', file])).run
  expect(alone).toMatchObject({ experiment: { tools: [own], rollout: { max_turns: 2 } } })
  await loadNamedFiles(run.experiment, undefined, () => {}, tools)
  const [, tool] = createTools(run.experiment.tools, run.experiment.reward)
  expect(tool.marks).toEqual({ open: '(', close: ')', argument: 'sides' })
  await expect(readOptions(['tiny', '--tool', 'x.rb'])).rejects.toThrow(/--tool: expected/)
})

test('options that contradict each other are refused', async () => {
  await expect(readOptions(['tiny', '--val-data', 'x'])).rejects.toThrow(/there is no --data/)
  await expect(readOptions(['tiny', '--model', 'x', '--warm-start', 'y'])).rejects.toThrow(
    /--model/,
  )
})

test('a job’s model is one that a run can begin with; one with another vocabulary is not', async () => {
  const { model, weights } = await readGivenModel(`${JOB}/model`, arithmetic)
  expect(model).toMatchObject({ hidden_size: 128, num_key_value_heads: 2, padding_idx: 0 })
  expect(weights.length).toBe(299_008)
  await expect(readGivenModel('conformance/fixtures/hf/qwen3_tiny', arithmetic)).rejects.toThrow(
    /expected the tokenizer of the model, tokenizer\.json, found none/,
  )
})
