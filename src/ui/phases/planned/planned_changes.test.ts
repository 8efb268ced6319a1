import { expect, test } from 'vitest'
import { parsed } from '../../../document/experiment/testing.ts'
import { marksOn, placedMarks } from './PlannedMarks.tsx'
import { plannedChanges } from './planned_changes.ts'

const set = (step: number, path: string, value: number) =>
  ({ step, kind: 'set', path, value }) as const
const experiment = parsed({
  phases: [
    { kind: 'sft', steps: 10 },
    { kind: 'rl', steps: 20 },
  ],
})

test('a change that will be made again stands at its step on the phases of the start', () => {
  const steering = [set(5, 'actor.optim.lr', 0.002), set(20, 'rollout.temperature', 0.9)]
  expect(placedMarks({ ...experiment, steering })).toEqual([
    { step: 5, words: 'lr 0.002', phase: 0, share: 0.5 },
    { step: 20, words: 'temperature 0.9', phase: 1, share: 0.5 },
  ])
})

test('a change of a run stands in the phase that it was made in, as long as that was', () => {
  expect(
    marksOn(
      [4, 10],
      [
        { step: 4, words: 'a' },
        { step: 9, words: 'b' },
      ],
    ),
  ).toEqual([
    { step: 4, words: 'a', phase: 0, share: 1 },
    { step: 9, words: 'b', phase: 1, share: 0.5 },
  ])
})

test('behind the first change that moves phases nothing can be placed on them', () => {
  const steering = [
    set(2, 'actor.optim.lr', 0.002),
    { step: 4, kind: 'next_phase' } as const,
    set(12, 'rollout.temperature', 0.9),
  ]
  expect(plannedChanges(steering)).toEqual({
    placed: [
      { step: 2, words: 'lr 0.002' },
      { step: 4, words: 'next phase' },
    ],
    movesPhases: true,
  })
  expect(plannedChanges([set(2, 'phases.1.steps', 40)]).movesPhases).toBe(true)
})
