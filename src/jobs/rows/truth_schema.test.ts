// Right answers that are objects, written into a job's Parquet and read again: they are what they
// were.
import { expect, test } from 'vitest'
import { readTable } from '../../tasks/data/readers/readers.ts'
import type { Json } from '../../tasks/task/json.ts'
import type { Sample, Task } from '../../tasks/task/task.ts'
import { JobError } from '../settings/job_error.ts'
import { valFile } from './rows.ts'

async function written(truths: readonly Json[]): Promise<unknown[]> {
  const task = {
    id: 'dataset',
    test_size: truths.length,
    sample: (_: number, i: number): Sample => ({
      prompt: `${i}`,
      demonstration: '',
      ground_truth: JSON.stringify(truths[i]),
      ...(typeof truths[i] !== 'string' && { truth: truths[i] }),
    }),
  } as unknown as Task
  const pieces = [...(valFile(task, truths.length).pieces as Iterable<Uint8Array>)]
  const bytes = new Uint8Array(Buffer.concat(pieces))
  const { columns, rows } = await readTable({ name: 'val.parquet', bytes })
  const at = columns.indexOf('reward_model')
  return rows.map((row) => (row[at] as { ground_truth: unknown }).ground_truth)
}

test.for<[string, readonly Json[]]>([
  [
    'objects of lists',
    [
      { names: ['a', 'b'], roles: ['x'] },
      { names: ['c'], roles: [] },
    ],
  ],
  [
    'nested objects',
    [
      { a: { b: [{ c: 1 }, { c: 2 }] }, d: true },
      { a: { b: [] }, d: false },
    ],
  ],
  [
    'numbers',
    [
      { whole: 3, part: 1 },
      { whole: -7, part: 0.5 },
    ],
  ],
  ['lists of numbers', [[1, 2], [3]]],
])('%s', async ([, truths]) => {
  expect(await written(truths)).toEqual(truths)
})

test('a field that a row lacks is null there, as verl reads it', async () => {
  expect(await written([{ a: 1 }, { b: 'x' }])).toEqual([
    { a: 1, b: null },
    { a: null, b: 'x' },
  ])
})

test('values of several kinds are refused by their place', async () => {
  await expect(written([{ a: [1] }, { a: ['x'] }])).rejects.toThrow(JobError)
  await expect(written([{ a: [1] }, { a: ['x'] }])).rejects.toThrow(
    'ground_truth.a[]: expected values of one kind in all rows, as a column of Parquet has, found a number and text',
  )
})
