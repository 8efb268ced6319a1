import { expect, test } from 'vitest'
import {
  asksInside,
  asksMore,
  isObserved,
  NO_OBSERVATION,
  type ObservationRequest,
} from './observation.ts'

const asking = (request: Partial<ObservationRequest>) => ({ ...NO_OBSERVATION, ...request })
const sample = { prompt: '1', response: '2', is_ended: true }

test('step 0 and every n-th step are observed', () => {
  const steps = [0, 1, 2, 3, 4].filter((step) => isObserved(asking({ every: 2 }), step))
  expect(steps).toEqual([0, 2, 4])
})

test('tokens and a lens on nothing ask for nothing of the inside', () => {
  expect(asksInside(asking({ tokens: true, lens: { held_out: 0, samples: [] } }))).toBe(false)
  expect(asksInside(asking({ lens: { held_out: 0, samples: [sample] } }))).toBe(true)
})

test('another group, another layer where it counts and another text are more; less is not', () => {
  const lens = { held_out: 1, samples: [sample] }
  const known = asking({ groups: ['flow', 'similarity'], layer: 2, lens })
  expect(asksMore(asking({ groups: ['flow'], layer: 1 }), known)).toBe(false)
  expect(asksMore(asking({ groups: ['similarity'], layer: 1 }), known)).toBe(true)
  expect(asksMore(asking({ groups: ['cosines'] }), known)).toBe(true)
  expect(asksMore(asking({ lens: { ...lens, samples: [{ ...sample }] } }), known)).toBe(false)
  expect(asksMore(asking({ lens: { ...lens, samples: [] } }), known)).toBe(true)
  expect(asksMore(asking({ tokens: true }), NO_OBSERVATION)).toBe(false)
})
