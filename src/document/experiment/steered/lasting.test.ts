import { expect, test } from 'vitest'
import type { SteeringEntry } from '../steering/actions.ts'
import { lasting } from './lasting.ts'

const lr = (step: number, value: number): SteeringEntry => ({
  step,
  kind: 'set',
  path: 'actor.optim.lr',
  value,
})

test('what was done lasts where the document has it, and what is to come was not done', () => {
  const steered = [
    { entry: lr(2, 0.1) },
    { entry: lr(2, 0.2) },
    { entry: lr(4, 0.3), refused: 'no room' },
  ]
  expect(lasting({ steered, steering: [lr(2, 0.2), lr(9, 0.5)] })).toEqual([lr(2, 0.2)])
  expect(lasting({ steered, steering: [] })).toEqual([])
})
