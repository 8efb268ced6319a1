import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { taskOf } from '../../lab/experiment/fields/task_fields.ts'
import { arithmetic } from '../../tasks/tokenizers/arithmetic.ts'
import { readOptions } from '../train/train_options.ts'
import { readDataSet } from './data_set.ts'
import { readGivenModel } from './given_model.ts'

const JOB = 'conformance/fixtures/trl/repeat_digit'
const folder = mkdtempSync(join(tmpdir(), 'understory-given-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a job’s rows are a task, with its validation rows held out', () => {
  const choice = readDataSet(`${JOB}/data/train.jsonl`, `${JOB}/data/val.jsonl`)
  expect(choice).toMatchObject({
    name: 'train.jsonl',
    ...{ max_prompt_length: 2, max_response_length: 2, train_size: 1024, test_size: 10 },
  })
  const task = taskOf({ ...choice })
  expect(task.sample(1, 0, 'train_set')).toEqual({
    ...{ prompt: '6=', ground_truth: '6', demonstration: '6' },
  })
  expect(task.score('6=', '6')).toBe(1)
})

test('without rows for validation the last fifth is held out, and too few rows are refused', () => {
  const lines = readFileSync(`${JOB}/data/val.jsonl`, 'utf8').split('\n')
  const write = (name: string, count: number) => {
    const file = join(folder, name)
    writeFileSync(file, lines.slice(0, count).join('\n'))
    return file
  }
  expect(readDataSet(write('ten.jsonl', 10), undefined)).toMatchObject({
    ...{ train_size: 8, test_size: 2 },
  })
  expect(() => readDataSet(write('four.jsonl', 4), undefined)).toThrow(/5 rows or more/)
})

test('characters outside the vocabulary are refused', () => {
  const file = join(folder, 'words.jsonl')
  const one = { prompt: [{ content: 'why' }], reward_model: { ground_truth: '1' } }
  writeFileSync(file, `${JSON.stringify(one)}\n`.repeat(5))
  expect(() => readDataSet(file, undefined)).toThrow(/--data: encode: expected characters of/)
})

test('the options put data into the document, all of it in every epoch', () => {
  const data = ['--data', `${JOB}/data/train.jsonl`, '--val-data', `${JOB}/data/val.jsonl`]
  const { run } = readOptions(['tiny', ...data, '--seed', '5'])
  if ('resume' in run) throw new Error('expected a new run')
  expect(run.experiment).toMatchObject({
    seed: 5,
    task: { id: 'dataset', train_size: 1024 },
    data: { train_max_samples: -1 },
  })
  expect(() => readOptions(['tiny', '--val-data', 'x'])).toThrow(/there is no --data/)
  expect(() => readOptions(['tiny', '--model', 'x', '--warm-start', 'y'])).toThrow(/--model/)
})

test('a job’s model is one that a run can begin with; one with another vocabulary is not', async () => {
  const { model, weights } = await readGivenModel(`${JOB}/model`, arithmetic)
  expect(model).toMatchObject({ hidden_size: 128, num_key_value_heads: 2, padding_idx: 0 })
  expect(weights.length).toBe(299_008)
  await expect(readGivenModel('conformance/fixtures/hf/qwen3_tiny', arithmetic)).rejects.toThrow(
    /tokenizer\.json: expected a file/,
  )
})
