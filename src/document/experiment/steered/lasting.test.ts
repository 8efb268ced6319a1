import { expect, test } from 'vitest'
import type { SteeringEntry } from '../steering/actions.ts'
import { parsed } from '../testing.ts'
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

test('it lasts in a document that was read back, too', () => {
  const entry = { step: 2, kind: 'set', path: 'actor.optim.lr', value: 0.002 } as const
  const { steering } = parsed({ steering: [entry] })
  expect(Object.keys(steering[0])).not.toEqual(Object.keys(entry))
  expect(lasting({ steered: [{ entry }], steering })).toEqual(steering)
})
