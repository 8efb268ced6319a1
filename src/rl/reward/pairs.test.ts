import { expect, test } from 'vitest'
import type { Sample } from '../../tasks/task/task.ts'
import { type Candidate, drawPairs, type PairSource, readsAlike, scoresAlike } from './pairs.ts'

const NO_IDS = new Uint32Array()
const row = { input_ids: NO_IDS, attention_mask: NO_IDS, position_ids: NO_IDS }
const candidate = (text: string, score = 0, is_ended = true): Candidate => ({
  row,
  text,
  is_ended,
  score,
})

/** Problems '0', '1', … four at a time; `answer` says what both responses are the n-th time a
 * problem is asked. */
function source(answer: (problem: number, time: number) => readonly Candidate[]) {
  const asked = new Map<number, number>()
  const rounds: number[] = []
  let next = 0
  const from: PairSource = {
    promptsAtOnce: 4,
    takeSamples: (count) =>
      Array.from({ length: count }, () => ({ prompt: `${next++}` }) as unknown as Sample),
    respond: async (samples, round) => {
      rounds.push(round)
      expect(samples).toHaveLength(4)
      return samples.map(({ prompt }) => {
        const problem = Number(prompt)
        const time = asked.get(problem) ?? 0
        asked.set(problem, time + 1)
        return answer(problem, time)
      })
    },
  }
  return { from, asked, rounds, taken: () => next }
}

test('what counts as a tie', () => {
  expect(readsAlike(candidate('1'), candidate('1', 1))).toBe(true)
  expect(readsAlike(candidate('1'), candidate('1', 0, false))).toBe(false)
  expect(readsAlike(candidate('1'), candidate('2'))).toBe(false)
  expect(scoresAlike(candidate('1'), candidate('2'))).toBe(true)
  expect(scoresAlike(candidate('1', 1), candidate('2'))).toBe(false)
})

test('ties are drawn again beside new problems', async () => {
  // Odd problems tie twice before they differ.
  const lab = source((problem, time) => [
    candidate('right', 1),
    candidate('wrong', problem % 2 === 1 && time < 2 ? 1 : 0),
  ])
  const drawn = await drawPairs(lab.from, 6, scoresAlike, 10)
  expect(drawn.pairs.map(({ prompt }) => prompt)).toEqual(['0', '2', '4', '1', '3', '6'])
  expect(drawn).toMatchObject({ ties: 0, rounds: 3 })
  expect(lab.rounds).toEqual([10, 11, 12])
  expect(lab.asked.get(1)).toBe(3)
})

test('of more responses the best and the worst make the pair, in the order they came', async () => {
  const lab = source(() => [
    candidate('fair', 0.5),
    candidate('worst', 0),
    candidate('best', 1),
    candidate('as good', 1),
  ])
  const [judged] = (await drawPairs(lab.from, 1, scoresAlike)).pairs
  expect([judged.a.text, judged.b.text]).toEqual(['worst', 'best'])
  const [asked] = (await drawPairs(lab.from, 1, readsAlike)).pairs
  expect([asked.a.text, asked.b.text]).toEqual(['fair', 'worst'])
  // A reward model's scores count before the task's.
  const other = source(() => [
    { ...candidate('right', 1), reward: -2 },
    { ...candidate('liked', 0), reward: 3 },
    { ...candidate('middle', 0), reward: 0 },
  ])
  const [liked] = (await drawPairs(other.from, 1, scoresAlike)).pairs
  expect([liked.a.text, liked.b.text]).toEqual(['right', 'liked'])
})

test('a problem is given up after eight ties, and all of them after four for each pair', async () => {
  const never = source(() => [candidate('same'), candidate('same')])
  expect(await drawPairs(never.from, 3, readsAlike)).toEqual({ pairs: [], ties: 12, rounds: 24 })
  expect(never.taken()).toBe(12)
  expect([...never.asked.values()].every((times) => times >= 8)).toBe(true)
  // One problem in four can be told apart: as many pairs as were asked for, and the rest counted.
  const some = source((problem) => [candidate('a', problem % 4 === 0 ? 1 : 0), candidate('b')])
  const drawn = await drawPairs(some.from, 3, scoresAlike)
  expect(drawn.pairs.map(({ prompt }) => prompt)).toEqual(['0', '4', '8'])
  expect(some.taken()).toBeLessThanOrEqual(12)
})

test('no pairs take no draws', async () => {
  const lab = source(() => [candidate('a'), candidate('b')])
  expect(await drawPairs(lab.from, 0, readsAlike)).toEqual({ pairs: [], ties: 0, rounds: 0 })
  expect(lab.rounds).toEqual([])
})
