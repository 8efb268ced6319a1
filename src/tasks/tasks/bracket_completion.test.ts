import { expect, test } from 'vitest'

import { createTask } from '../index.ts'

test('the answer closes what is open, innermost first', () => {
  const task = createTask('bracket_completion')
  expect([task.max_prompt_length, task.max_response_length, task.test_size]).toEqual([9, 9, 512])
  expect(task.score('([]{()[(=', ')]})')).toBe(1)
  expect(task.score('([]{()[(=', ')]}')).toBe(0)
  expect(task.score('([]{()[(=', ')})]')).toBe(0)
  expect(task.score('((((((((=', '))))))))')).toBe(1)
})

test('a prefix that closes a wrong bracket cannot be completed', () => {
  const task = createTask('bracket_completion')
  expect(() => task.score('(]=', ')')).toThrow(/can be completed, got \(\]/)
  expect(() => task.score(')(=', ')')).toThrow(/can be completed/)
})

test('prefix and answer together are balanced, and the answer is never empty', () => {
  const task = createTask('bracket_completion')
  const lengths = new Set<number>()
  for (let i = 0; i < 2000; i++) {
    const { prompt, ground_truth, demonstration } = task.sample(8, i, 'train')
    expect(prompt).toMatch(/^[()[\]{}]{8}=$/)
    expect(demonstration).toBe(ground_truth)
    lengths.add(ground_truth.length)
    // Taking out innermost pairs leaves nothing of a balanced text.
    let text = prompt.slice(0, -1) + ground_truth
    for (let pairs = 0; pairs < 8; pairs++) text = text.replaceAll(/\(\)|\[\]|\{\}/g, '')
    expect(text).toBe('')
  }
  expect([...lengths].sort()).toEqual([2, 4, 6, 8])
})

test('all prefixes of three brackets occur: 27 that only open and 18 with one closer', () => {
  const task = createTask('bracket_completion', { length: 3 })
  const prompts = new Set<string>()
  for (let i = 0; i < 9; i++) prompts.add(task.sample(0, i, 'test').prompt)
  for (let i = 0; i < 1000; i++) prompts.add(task.sample(0, i, 'train').prompt)
  expect(task.test_size).toBe(9)
  expect(prompts.size).toBe(45)
})
