import { expect, test } from 'vitest'
import { overlongReward, tokenLevelScores } from './overlong.ts'

const BUFFER = { max_resp_len: 12, len: 4, penalty_factor: 1 }

test('nothing up to the buffer, then a line down to the penalty at the maximum length', () => {
  const penalties = [0, 3, 8, 9, 10, 11, 12].map((length) => overlongReward(length, BUFFER))
  expect(penalties).toEqual([0, 0, 0, -0.25, -0.5, -0.75, -1])
})

test('the factor scales the penalty, which is a float32', () => {
  const buffer = { max_resp_len: 10, len: 5, penalty_factor: 0.5 }
  expect(overlongReward(10, buffer)).toBe(-0.5)
  expect(overlongReward(9, buffer)).toBe(Math.fround(-0.4))
})

test('a buffer as long as the response penalises every token, as in verl', () => {
  expect(overlongReward(3, { ...BUFFER, len: 12 })).toBe(-0.25)
})

test('a buffer without length or longer than the response is refused', () => {
  expect(() => overlongReward(3, { ...BUFFER, len: 0 })).toThrow(/above 0 and at most.*12, found 0/)
  expect(() => overlongReward(3, { ...BUFFER, len: 13 })).toThrow(RangeError)
})

test('a score is on the last token of its response, in the last column if there is none', () => {
  expect([...tokenLevelScores([1, 2, 3], [2, 3, 0], 3)]).toEqual([0, 1, 0, 0, 0, 2, 0, 0, 3])
})
