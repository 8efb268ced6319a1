// Tests what every task guarantees, at its smallest, default and largest parameters.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createTask, loadTask, TASKS, withCheckedScore } from './index.ts'
import type { TaskKind, TaskParam } from './task/task.ts'

for (const { id } of TASKS) await loadTask(id)

const at = (kind: TaskKind, pick: (param: TaskParam) => number) =>
  createTask(kind.id, Object.fromEntries(kind.params.map((param) => [param.name, pick(param)])))

const CASES = TASKS.flatMap((kind) => [
  { label: `${kind.id}, smallest`, task: at(kind, (param) => param.min) },
  { label: `${kind.id}, default`, task: createTask(kind.id) },
  { label: `${kind.id}, largest`, task: at(kind, (param) => param.max) },
])

/** Stories take longer to tell than numbers to draw. */
const DRAWN = process.env.LONG_TESTS ? 5000 : 1000

describe.for(CASES)('$label', ({ task }) => {
  const heldOut = Array.from({ length: task.test_size }, (_, i) => task.sample(0, i, 'test'))

  test('a held-out problem is never drawn for training, whatever the seed', () => {
    const prompts = new Set(heldOut.map((sample) => sample.prompt))
    expect(prompts.size).toBe(task.test_size)
    const drawn = Array.from({ length: DRAWN }, (_, i) => task.sample(i % 7, i, 'train').prompt)
    expect(drawn.filter((prompt) => prompts.has(prompt))).toEqual([])
  })

  test('the training set has no problem twice and none that is held out', () => {
    const first = Math.min(600, task.train_size)
    const set = Array.from({ length: first }, (_, i) => task.sample(3, i, 'train_set').prompt)
    expect(new Set(set).size).toBe(first)
    const prompts = new Set(heldOut.map((sample) => sample.prompt))
    expect(set.filter((prompt) => prompts.has(prompt))).toEqual([])
    expect(task.sample(3, task.train_size, 'train_set').prompt).toBe(set[0])
  })

  test('the held-out problems ignore the seed and wrap around', () => {
    const last = task.test_size - 1
    expect(task.sample(5, last, 'test')).toEqual(heldOut[last])
    expect(task.sample(6, 2 * task.test_size + last, 'test')).toEqual(heldOut[last])
  })

  test('a sample does not depend on what was drawn before it', () => {
    const indices = [0, 1, 2, 40, 999]
    const forwards = indices.map((i) => task.sample(9, i, 'train'))
    const backwards = indices.toReversed().map((i) => task.sample(9, i, 'train'))
    expect(backwards.toReversed()).toEqual(forwards)
  })

  test('the right answer scores 1, and what is nearly it less', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, index) => {
        const { prompt, ground_truth } = task.sample(seed, index, 'train')
        expect(task.score(prompt, ground_truth)).toBe(1)
        const changed = (ground_truth[0] === '1' ? '2' : '1') + ground_truth.slice(1)
        for (const wrong of [
          '',
          ground_truth.slice(0, -1),
          `${ground_truth}0`,
          `0${ground_truth}`,
          `${ground_truth}=`,
          ` ${ground_truth}`,
          changed,
        ]) {
          const score = task.score(prompt, wrong)
          expect(score, `${wrong} to ${prompt}`).toBeLessThan(1)
          if (task.exact_match) expect(score).toBe(0)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('prompts, answers and demonstrations fit their lengths and the vocabulary', () => {
    let longest = 0
    for (const { prompt, ground_truth, demonstration } of [
      ...heldOut,
      ...Array.from({ length: 500 }, (_, i) => task.sample(1, i, 'train')),
    ]) {
      expect(task.tokenizer.encode(prompt).length).toBeLessThanOrEqual(task.max_prompt_length)
      for (const answer of [ground_truth, demonstration])
        expect(task.tokenizer.encode(answer).length + 1).toBeLessThanOrEqual(
          task.max_response_length,
        )
      longest = Math.max(longest, ground_truth.length + 1, demonstration.length + 1)
    }
    // The bound is near: the longest answers of some tasks are rare.
    expect(longest).toBeGreaterThanOrEqual(task.max_response_length / 2)
  })

  test('a prompt of another task is an error', () => {
    expect(() => task.score('1-1', '0')).toThrow(/expected a prompt like/)
  })
})

describe('a score', () => {
  const scoring = (score: number, partial_score?: string) => {
    const task = { ...createTask('sort_digits'), score: () => score }
    return withCheckedScore(partial_score === undefined ? task : { ...task, partial_score })
  }

  test('is 0 or 1, and between them only where the task says what that means', () => {
    expect(scoring(1).score('1>', '1')).toBe(1)
    expect(scoring(0.5, 'half of it').score('1>', '1')).toBe(0.5)
    expect(() => scoring(0.5).score('1>', '2')).toThrow(
      'task sort_digits: expected a score of 0 or 1, got 0.5 for "2" to "1>"',
    )
  })

  test.for([Number.NaN, Number.POSITIVE_INFINITY, -0.1, 1.1])('%f is none', (score) => {
    expect(() => scoring(score).score('1>', '2')).toThrow(/a score of 0 or 1/)
    expect(() => scoring(score, 'half of it').score('1>', '2')).toThrow(/a score from 0 to 1/)
  })
})

describe('createTask', () => {
  test('fills in defaults', () => {
    const given = createTask('two_skills_addition', { digits: 2, correct_share: 0.25 })
    const filled = createTask('two_skills_addition')
    for (let i = 0; i < 50; i++)
      expect(filled.sample(1, i, 'train')).toEqual(given.sample(1, i, 'train'))
  })

  test('says what it would have taken', () => {
    expect(() => createTask('chess')).toThrow(/one of two_skills_addition, .*, got chess/)
    expect(() => createTask('sort_digits', { digits: 2 })).toThrow(/of length, got digits/)
    expect(() => createTask('sort_digits', { length: 9 })).toThrow(/from 2 to 8, got 9/)
    expect(() => createTask('sort_digits', { length: 2.5 })).toThrow(/a whole number .* got 2.5/)
    expect(() => createTask('two_skills_addition', { correct_share: 1.1 })).toThrow(/from 0 to 1/)
    expect(() => createTask('two_skills_addition', { digits: Number.NaN })).toThrow(/got NaN/)
  })

  test('every default is legal and on its grid', () => {
    for (const { id, params } of TASKS)
      for (const { name, min, max, step, default: value } of params) {
        expect(value, `${id} ${name}`).toBeGreaterThanOrEqual(min)
        expect(value, `${id} ${name}`).toBeLessThanOrEqual(max)
        expect((value - min) / step, `${id} ${name}`).toBeCloseTo(Math.round((value - min) / step))
      }
  })
})

test.for(TASKS.flatMap((kind) => (kind.properties ?? []).map((property) => ({ kind, property }))))(
  '$kind.id: $property.id has few values, and more than one',
  ({ kind, property }) => {
    const task = createTask(kind.id)
    const values = new Set(
      Array.from({ length: task.test_size }, (_, i) => property.of(task.sample(0, i, 'test'))),
    )
    expect(values.size).toBeGreaterThan(1)
    expect(values.size).toBeLessThan(20)
  },
)

test('whether the units carry', () => {
  const [carry] = TASKS.find(({ id }) => id === 'two_skills_addition')?.properties ?? []
  const of = (prompt: string) => carry.of({ prompt, ground_truth: '' })
  expect(['37+85=', '37+82=', '9+1=', '95+14='].map(of)).toEqual(['yes', 'no', 'yes', 'no'])
})
