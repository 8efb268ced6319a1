import { expect, test } from 'vitest'

import { createTask } from '../index.ts'

test('reverse_digits wants the digits backwards, leading zeros included', () => {
  const task = createTask('reverse_digits')
  expect([task.max_prompt_length, task.max_response_length, task.test_size]).toEqual([7, 7, 512])
  expect(task.score('382910>', '019283')).toBe(1)
  expect(task.score('382910>', '19283')).toBe(0)
  expect(task.score('382910>', '382910')).toBe(0)
})

test('sort_digits wants the digits in ascending order, repeats included', () => {
  const task = createTask('sort_digits')
  expect(task.score('382910>', '012389')).toBe(1)
  expect(task.score('770077>', '007777')).toBe(1)
  expect(task.score('770077>', '07')).toBe(0)
})

test.for(['reverse_digits', 'sort_digits'])('%s draws every digit at every place', (id) => {
  const task = createTask(id, { length: 3 })
  const seen = new Set<string>()
  for (let i = 0; i < 1000; i++)
    for (const [place, digit] of [...task.sample(2, i, 'train').prompt].entries())
      seen.add(`${place}:${digit}`)
  expect(seen.size).toBe(3 * 10 + 1) // and the > at place 3
})

test.for(['reverse_digits', 'sort_digits'])('%s demonstrates its answer', (id) => {
  const sample = createTask(id).sample(1, 1, 'train')
  expect(sample.prompt).toMatch(/^\d{6}>$/)
  expect(sample.demonstration).toBe(sample.ground_truth)
})
