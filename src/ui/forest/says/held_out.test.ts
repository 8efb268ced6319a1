// The held-out problems of a phase are told with the steps that they were measured at.
import { expect, test } from 'vitest'
import { presetOf } from '../../../document/presets/presets.ts'
import { Series } from '../../../host/columns/series.ts'
import { initialState } from '../../../page/state/store.ts'
import { phaseCaptions } from './captions.ts'

const { experiment } = presetOf('tiny') ?? {}
if (!experiment) throw new Error('no preset')

function columnOf(rows: readonly (readonly [step: number, value: number])[]): Series {
  const column = new Series()
  for (const [step, value] of rows) column.push(step, value)
  return column
}

test('a validation in the middle of a phase names its step', () => {
  const begins = [0, 4, 28]
  const phases = [4, 24, 4].map((steps) => ({ ...experiment.phases[2], steps }))
  const entropies = columnOf([1, 4, 28, 32].map((step) => [step, 2 - step / 100]))
  const shares = columnOf([
    [4, 0.83],
    [10, 0.8],
    [20, 0.69],
    [30, 0.76],
    [32, 0.9],
  ])
  const captions = phaseCaptions({
    ...initialState(),
    runExperiment: { ...experiment, phases },
    step: 32,
    phase_switches: begins.map((step, phase) => ({ step, phase, reason: 'steps' as const })),
    series: new Map([
      ['layer/entropy/2', entropies],
      ['layer/entropy/3', entropies],
      ['val-aux/sort_digits/acc/greedy', shares],
    ]),
  })
  const solved = captions.map((caption) => /it solved .*/.exec(caption)?.[0])
  expect(solved.map((words) => words?.replaceAll('\u00a0', ' '))).toEqual([
    undefined,
    'it solved 83 %, then 69 % at step 20.',
    'it solved 76 % at step 30, then 90 %.',
  ])
})
