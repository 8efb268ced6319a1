import { expect, test } from 'vitest'
import type { Generation } from '../../host/protocol/results.ts'
import { initialState } from '../../page/state/store.ts'
import { emptyKept, keepGenerations } from '../../record/run/kept_run.ts'
import { examplesOf } from './examples.ts'

const answer = (input: string, output: string, score: number, do_sample = false): Generation => ({
  input,
  output,
  gts: '',
  score,
  do_sample,
})

function run(...validations: readonly (readonly Generation[])[]) {
  const kept = emptyKept()
  validations.forEach((answers, i) => {
    keepGenerations(kept, 10 * i, answers)
  })
  return { ...initialState(), kept }
}

test('problems that the run learned to solve come first, with the likeliest answers of the first and the last validation', () => {
  const state = run(
    [answer('a', '1', 1), answer('b', '2', 0), answer('b', '9', 1, true), answer('c', '3', 0)],
    [answer('a', 'x', 0)],
    [answer('a', '1', 1), answer('b', '5', 0), answer('b', '8', 0, true), answer('c', '4', 1)],
  )
  const found = examplesOf(state, 2)
  expect(found?.steps).toEqual([0, 20])
  expect(found?.examples.map(({ before, after }) => [before.output, after.output])).toEqual([
    ['3', '4'],
    ['2', '5'],
  ])
})

test('where all of them are right, one that is still wrong is the last', () => {
  const state = run(
    ['a', 'b', 'c', 'd'].map((input) => answer(input, '0', 0)),
    ['a', 'b', 'c'].map((input) => answer(input, '1', 1)).concat(answer('d', '2', 0)),
  )
  const inputs = examplesOf(state, 3)?.examples.map(({ after }) => after.input)
  expect(inputs).toEqual(['a', 'b', 'd'])
})

test('without a second validation nothing is compared', () => {
  expect(examplesOf(run([answer('a', '1', 1)]), 3)).toBeUndefined()
  expect(examplesOf(run([answer('a', '1', 1)], [answer('b', '1', 1)]), 3)).toBeUndefined()
})
