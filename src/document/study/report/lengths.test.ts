// How runs of different lengths are compared is said before they are trained, and is what is done.
import { expect, test } from 'vitest'
import { analyse } from '../analysis.ts'
import { plannedRuns } from '../queue.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../testing.ts'
import { budgetSays, lengthSentence } from './lengths.ts'

const document = (budget: string, at = 'end') => ({
  ...DOCUMENT,
  arms: [{ name: 'short' }, { name: 'long', set: { 'phases.1.steps': 40 } }],
  budget: { same: budget },
  measure: { metric: 'acc/greedy', at },
})
const said = (own: object) => lengthSentence(studyOf(own), armsOf(own))

test('only arms of different lengths say so, with what a run counts with', () => {
  expect(said(DOCUMENT)).toBeUndefined()
  // Made equally long.
  expect(said(document('responses'))).toBeUndefined()
  expect(said(document('steps'))).toBe(
    'The arms take 30 to 50 steps. Each run counts with its last value within the steps of reinforcement that all runs have spent; what comes later does not count.',
  )
  expect(said(document('steps', 'last'))).toContain('the mean of its last five values within')
  const batch = { ...document('responses'), arms: [], grid: { 'rollout.n': [4, 8] } }
  expect(said(batch)).toContain(
    '20 to 30 steps. Each run counts with its last value within the resp',
  )
})

test('an arm that the budget makes longer or shorter says so', () => {
  const long = document('responses')
  expect(armsOf(long).map(({ stepsAsSet }) => stepsAsSet)).toEqual([undefined, 50])
  expect(budgetSays(studyOf(long), armsOf(long))).toContain('as many responses as what')
  const steps = document('steps')
  expect(armsOf(steps).map(({ stepsAsSet }) => stepsAsSet)).toEqual([undefined, undefined])
  expect(budgetSays(studyOf(steps), armsOf(steps))).toBeUndefined()
})

test('what a longer run learns later does not count', () => {
  const own = document('steps')
  const [study, arms] = [studyOf(own), armsOf(own)]
  const results = plannedRuns(study, arms).map((run) => {
    const result = madeUpResult(study, run, 0.8)
    if (run.arm.name === 'short') return result
    const later = (points: readonly (readonly [number, number])[], value: number) =>
      [...points, [50, value]] as [number, number][]
    const [metric] = Object.keys(result.series).filter((name) => name.endsWith('acc/greedy'))
    return {
      ...result,
      series: { ...result.series, [metric]: later(result.series[metric], 1) },
      costs: { ...result.costs, responses: later(result.costs.responses, 40 * 64) },
    }
  })
  const { arms: compared } = analyse(study, arms, results)
  expect(compared.map(({ mean }) => mean)).toEqual([0.8, 0.8].map((x) => expect.closeTo(x)))
})
