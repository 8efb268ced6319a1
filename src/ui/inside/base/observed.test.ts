import { expect, test } from 'vitest'
import type { Observation } from '../../../host/protocol/observation.ts'
import { Kept } from '../../../record/run/kept.ts'
import { observationOf } from '../testing.ts'
import {
  costWords,
  emptyWords,
  firstObserved,
  isOtherBasis,
  observedAt,
  refusedWords,
  stepWords,
  tokensWords,
} from './observed.ts'

const kept = new Kept<Observation>(1e6)
kept.push(0, observationOf({ cos_attn: [1, 1] }), 1)
kept.push(10, observationOf({ cos_attn: [2, 2], cos_ffn: [2, 2] }), 1)
kept.push(20, observationOf({ cos_ffn: [3, 3] }), 1)

test('the newest at or before the shown step that holds what is drawn', () => {
  expect(observedAt(kept, undefined, ['cos_attn'])?.step).toBe(10)
  expect(observedAt(kept, undefined, ['cos_ffn'])?.step).toBe(20)
  expect(observedAt(kept, 19, ['cos_ffn'])?.step).toBe(10)
  expect(observedAt(kept, 9, ['cos_attn'])?.step).toBe(0)
  expect(observedAt(kept, 9, ['cos_ffn'])).toBeUndefined()
  expect(observedAt(kept, undefined, ['cos_attn', 'cos_ffn'])?.step).toBe(10)
  expect(observedAt(new Kept(1), undefined, [])).toBeUndefined()
  expect(firstObserved(kept, ['cos_ffn'])).toBe(10)
  expect(firstObserved(kept, ['kl_of_layer'])).toBeUndefined()
})

test('a figure says which step it shows, and when that is not the one asked for', () => {
  expect(stepWords(10, undefined)).toBe('Step 10, the newest observed.')
  expect(stepWords(10, 10)).toBe('Step 10.')
  expect(stepWords(10, 12)).toContain('not measured at step 12')
})

test('an empty figure says what to do', () => {
  const nothing = { isPast: false, next: undefined, atStep: undefined, first: undefined }
  expect(emptyWords(nothing)).toBe('Nothing was observed yet.')
  expect(emptyWords({ ...nothing, next: 'Step 5 is.' })).toBe('Not measured yet. Step 5 is.')
  expect(emptyWords({ ...nothing, isPast: true })).toContain('This run kept no numbers')
  expect(emptyWords({ ...nothing, atStep: 3, first: 10 })).toBe(
    'Step 3 was not observed. The first observed step is 10.',
  )
})

test('the cost is that of the figure’s own groups, and absent where nothing was timed', () => {
  const observation = observationOf({}, { cost_ms: { flow: 2.5, entropy: 1.25, lens: 9 } })
  expect(costWords(observation, ['flow'])).toBe('2.5 ms')
  expect(costWords(observation, ['flow', 'entropy'])).toBe('3.75 ms (flow 2.5, entropy 1.25)')
  expect(costWords(observation, ['cosines'])).toBeUndefined()
})

test('a figure says how many tokens its numbers are means over', () => {
  expect(tokensWords({ ...observationOf(), tokens: 1234 })).toBe('Means over 1,234 tokens.')
})

test('a group that could not be measured says why, and only in its own figures', () => {
  const refusing = new Kept<Observation>(1e6)
  const refused = { refused: 'flow: too many tokens\nlens: no text' }
  refusing.push(3, { ...observationOf(), ...refused }, 1)
  expect(refusedWords(refusing, undefined, ['flow'])).toBe(
    'This could not be measured. flow: too many tokens',
  )
  expect(refusedWords(refusing, undefined, ['cosines'])).toBeUndefined()
  expect(refusedWords(refusing, 2, ['flow'])).toBeUndefined()
})

test('numbers of held-out answers among those of the run are another measurement', () => {
  const heldOut = observationOf({}, { rows: 'held_out' })
  const both = new Kept<Observation>(1e6)
  both.push(0, heldOut, 1)
  both.push(10, observationOf(), 1)
  both.push(20, heldOut, 1)
  expect(both.items.map((seen) => isOtherBasis(seen, both))).toEqual([false, false, true])
  const alone = new Kept<Observation>(1e6)
  alone.push(20, heldOut, 1)
  expect(isOtherBasis(alone.items[0], alone)).toBe(false)
})
