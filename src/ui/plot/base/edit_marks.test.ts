import { expect, test } from 'vitest'
import { lasting } from '../../../document/experiment/steered/lasting.ts'
import { editMarks } from './edit_marks.ts'

test('a mark says what was changed after its step, of one field the last value, and nothing that was refused', () => {
  const set = (path: string, value: number) => ({ step: 2, kind: 'set' as const, path, value })
  const steered = [
    { entry: set('actor.optim.lr', 1), refused: undefined },
    { entry: set('rollout.temperature', 0.5), refused: undefined },
    { entry: set('actor.optim.lr', 0.1), refused: undefined },
    { entry: set('actor.optim.lr', 9), refused: 'no room' },
    { entry: { step: 2, kind: 'next_phase' as const }, refused: undefined },
    { entry: { step: 5, kind: 'repeat_phase' as const }, refused: undefined },
    { entry: { step: 5, kind: 'repeat_phase' as const }, refused: undefined },
  ]
  const steering = steered.flatMap(({ entry, refused }) => (refused === undefined ? entry : []))
  expect(editMarks(lasting({ steered, steering }))).toEqual([
    { step: 2, words: 'lr 0.1, temperature 0.5' },
    { step: 5, words: 'phase repeated, phase repeated' },
  ])
})
