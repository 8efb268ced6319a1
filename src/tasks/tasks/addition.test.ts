import { describe, expect, test } from 'vitest'
import { createTask } from '../index.ts'
import { sumWithoutCarries } from './addition.ts'

const draws = (task: ReturnType<typeof createTask>, count: number) =>
  Array.from({ length: count }, (_, i) => task.sample(4, i, 'train'))

describe('a sum without carries', () => {
  test.for([
    [37, 85, 2, '12'],
    [12, 34, 2, '46'],
    [50, 53, 2, '03'], // the leading zero stays
    [99, 11, 2, '00'],
    [7, 5, 1, '2'],
    [4096, 9907, 4, '3993'],
  ] as const)('%i + %i in %i digits is %s', ([a, b, digits, sum]) => {
    expect(sumWithoutCarries(a, b, digits)).toBe(sum)
  })
})

test('addition has the lengths and the held-out problems of the preset', () => {
  const task = createTask('two_skills_addition')
  expect([task.max_prompt_length, task.max_response_length, task.test_size]).toEqual([6, 4, 512])
  expect(task.score('37+85=', '122')).toBe(1)
  expect(task.score('37+85=', '12')).toBe(0)
  expect(task.score('10+10=', '020')).toBe(0)
})

test.for([1, 2, 3, 4])(
  'numbers of %i digits have as many, at both ends of their range',
  (digits) => {
    const numbers = draws(createTask('partial_sft_addition', { digits }), 4000).flatMap((sample) =>
      sample.prompt.slice(0, -1).split('+'),
    )
    expect(new Set(numbers.map((number) => number.length))).toEqual(new Set([digits]))
    const low = digits === 1 ? 0 : 10 ** (digits - 1)
    const span = 10 ** digits - low
    // 8,000 draws come within 1 % of both ends, save with probability 2 · 0.99^8000.
    expect(Math.min(...numbers.map(Number))).toBeLessThan(low + span / 100 + 1)
    expect(Math.max(...numbers.map(Number))).toBeGreaterThanOrEqual(low + 0.99 * span - 1)
  },
)

test('two-skills demonstrations are the sum or the sum without carries, a quarter of them the sum', () => {
  const carrying = draws(createTask('two_skills_addition'), 8000).filter((sample) => {
    const [a, b] = sample.prompt.slice(0, -1).split('+').map(Number)
    expect(sample.ground_truth).toBe(String(a + b))
    expect([String(a + b), sumWithoutCarries(a, b, 2)]).toContain(sample.demonstration)
    return sumWithoutCarries(a, b, 2) !== String(a + b)
  })
  const right = carrying.filter((sample) => sample.demonstration === sample.ground_truth).length
  // Some 6,000 draws: standard error 0.0056; the bound is four of them.
  expect(Math.abs(right / carrying.length - 0.25)).toBeLessThan(0.023)
})

test('correct_share goes from never to always', () => {
  for (const sample of draws(createTask('two_skills_addition', { correct_share: 1 }), 500))
    expect(sample.demonstration).toBe(sample.ground_truth)
  const wrong = draws(createTask('two_skills_addition', { correct_share: 0 }), 500).filter(
    (sample) => sample.demonstration !== sample.ground_truth,
  )
  expect(wrong.length).toBeGreaterThan(300)
})

test('half-learned addition asks the same problems, with right demonstrations only', () => {
  const twoSkills = createTask('two_skills_addition', { correct_share: 0 })
  const halfLearned = createTask('partial_sft_addition')
  for (let i = 0; i < 512; i++) {
    const sample = halfLearned.sample(0, i, 'test')
    expect(sample.prompt).toBe(twoSkills.sample(0, i, 'test').prompt)
    expect(sample.demonstration).toBe(sample.ground_truth)
  }
})
