// A composed reward: sums, names, what counts as right, and what becomes of a part that fails.
import { expect, test } from 'vitest'
import { createTask } from '../index.ts'
import { installProgramRunner, loadProgram, type ProgramAnswer } from '../task/program.ts'
import { createReward, type PartChoice } from './composed.ts'
import type { Response } from './reward.ts'

const task = createTask('two_skills_addition')
const LIMITS = { timeout_ms: 1000, batch_timeout_ms: 5000 }
const rewardOf = (...parts: PartChoice[]) => {
  const reward = createReward({ parts, ...LIMITS }, task)
  if (!reward) throw new RangeError('no parts')
  return reward
}
const respond = (solution_str: string, ground_truth = '12'): Response => ({
  data_source: 'toy',
  solution_str,
  ground_truth,
  extra_info: { prompt: '5+7=' },
})
const program = { id: 'program', weight: 1, code: 'sha256-x', name: 'r.js' }
loadProgram('sha256-x', 'a program')
const answering = (...answers: ProgramAnswer[]) => installProgramRunner(async () => answers)

test('without parts there is no reward but the task’s', () => {
  expect(createReward({ parts: [], ...LIMITS }, task)).toBeUndefined()
})

test('a total is the weighted sum of its parts, and each is reported by itself', async () => {
  const reward = rewardOf(
    { id: 'exact_match', weight: 1 },
    { id: 'length', weight: -0.5, longest: 1, slope: 4 },
    { id: 'length', weight: 0.25 },
  )
  expect(reward.parts).toEqual(['exact_match', 'length', 'length_2'])
  const { scores, columns, is_right, problems } = await reward.score(
    ['12', '123', ''].map((s) => respond(s)),
  )
  expect(Object.fromEntries(columns)).toEqual({
    exact_match: [1, 0, 0],
    length: [0.75, 0.5, 0.75],
    length_2: [1, 1, 0.99],
  })
  expect(scores).toEqual([1 - 0.375 + 0.25, -0.25 + 0.25, -0.375 + 0.25 * 0.99])
  expect(is_right).toEqual([true, false, false])
  expect(problems).toEqual([])
})

test('shaping alone leaves to the task what is right', async () => {
  const { is_right } = await rewardOf({ id: 'length', weight: 1 }).score([respond('x')])
  expect(is_right).toEqual([false])
})

test('a part that throws costs its response the score, and no other', async () => {
  const { scores, problems } = await rewardOf(
    { id: 'exact_match', weight: 1 },
    { id: 'task', weight: 1 },
  ).score([respond('12'), { ...respond('12'), extra_info: { prompt: 'no prompt' } }])
  expect(scores[1]).toBe(0)
  expect(problems).toMatchObject([{ row: 1, part: 'task', kind: 'error' }])
})

test('a program returns a number or an object with one; all else is a problem of its row', async () => {
  const values = [
    0.5,
    true,
    { score: 1, acc: 0, note: 'x', depth: 3 },
    null,
    'text',
    [1],
    {},
    'NaN',
  ]
  const hostile = JSON.parse('{"score": 1, "__proto__": 5, "a b": 1}')
  answering(...[...values, hostile].map((value) => ({ value })), {
    problem: 'timeout',
    message: 'took longer than 1000 ms',
  })
  const reward = rewardOf(program, { id: 'exact_match', weight: 1 })
  const { scores, columns, is_right, problems } = await reward.score(
    Array.from({ length: 10 }, () => respond('12')),
  )
  expect(scores).toEqual([1.5, 2, 2, 0, 0, 2, 0, 0, 2, 0])
  expect([...columns.keys()]).toEqual(['program', 'program/acc', 'program/depth', 'exact_match'])
  expect(columns.get('program/depth')?.slice(1, 4)).toEqual([undefined, 3, undefined])
  expect(is_right.slice(0, 3)).toEqual([false, true, false])
  expect(problems.map(({ row, kind }) => `${row} ${kind}`)).toEqual([
    ...[3, 4, 6, 7].map((row) => `${row} error`),
    '9 timeout',
  ])
  expect(problems[1].message).toBe('expected a finite number, or an object with score, got "text"')
})

test.for([
  [
    { id: 'exact', weight: 1 },
    /reward\.parts\.0\.id: expected one of task, exact_match.*program, got exact/,
  ],
  [{ id: 'regex', weight: 1, pattern: '(' }, /reward\.parts\.0: regex: pattern: expected/],
  [{ id: 'length', weight: 1, longest: -1 }, /reward\.parts\.0: length: expected longest/],
] as const)('%o is refused', ([part, message]) => {
  expect(() => rewardOf(part)).toThrow(message)
})
