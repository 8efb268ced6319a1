import { expect, test } from 'vitest'
import { createTask } from '../index.ts'

test('letter_counting counts a letter in any word', () => {
  const task = createTask('letter_counting')
  expect([task.max_prompt_length, task.max_response_length, task.test_size]).toEqual([11, 2, 512])
  expect(task.score('strawberry,r=', '3')).toBe(1)
  expect(task.score('strawberry,r=', '2')).toBe(0)
  expect(task.score('strawberry,r=', '03')).toBe(0)
  expect(task.score('strawberry,z=', '0')).toBe(1)
})

test('words have every length of the range and every letter, and ask about every letter', () => {
  const task = createTask('letter_counting', { min_length: 3, max_length: 5, distinct_letters: 4 })
  const prompts = Array.from({ length: 1000 }, (_, i) => task.sample(1, i, 'train').prompt)
  expect(new Set(prompts.map((prompt) => prompt.length - 3))).toEqual(new Set([3, 4, 5]))
  expect(new Set(prompts.join('').replaceAll(/[,=]/g, ''))).toEqual(new Set('abcd'))
  expect(new Set(prompts.map((prompt) => prompt.at(-2)))).toEqual(new Set('abcd'))
})

test('long words occur about as often as short ones, though there are far more of them', () => {
  const task = createTask('letter_counting', {
    min_length: 8,
    max_length: 16,
    distinct_letters: 26,
  })
  const lengths = Array.from({ length: 900 }, (_, i) => task.sample(1, i, 'train').prompt.length)
  const longest = lengths.filter((length) => length === 19).length
  // 100 of 900 expected; standard deviation 9.4.
  expect(Math.abs(longest - 100)).toBeLessThan(38)
})

test('a shortest word above the longest is the only length', () => {
  const task = createTask('letter_counting', { min_length: 6, max_length: 4 })
  for (let i = 0; i < 50; i++)
    expect(task.sample(1, i, 'train').prompt).toMatch(/^[a-e]{6},[a-e]=$/)
})
