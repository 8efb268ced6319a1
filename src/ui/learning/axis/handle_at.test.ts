// The knob of the shown step can be taken wherever an end of the zoom lies below it.
import { expect, test } from 'vitest'
import { handleAt, type Place } from './handle_at.ts'

/** At the end of a run of 300 pixels the knob lies on the last step that the charts show. */
const placesOf = (width: number): Place[] => [
  { id: 'scrubber', at: 300, width },
  { id: 'zoom-first', at: 0, width },
  { id: 'zoom-last', at: 300, width },
]

test('a press on the knob takes it, in both halves of the track', () => {
  for (const width of [24, 44])
    for (const at of [294, 300, 306])
      for (const isLow of [false, true])
        expect(handleAt(at, isLow, placesOf(width))).toBe('scrubber')
})

test('beyond the range the lower half takes an end of the zoom, and the upper half a step', () => {
  expect(handleAt(310, true, placesOf(24))).toBe('zoom-last')
  expect(handleAt(-4, true, placesOf(24))).toBe('zoom-first')
  expect(handleAt(310, false, placesOf(24))).toBe('scrubber')
})

test('within a short range a press moves the step, and brackets are taken from outside', () => {
  /** Of a finger, on a line of 116 pixels. */
  const places: Place[] = [
    { id: 'scrubber', at: 116, width: 44 },
    { id: 'zoom-first', at: 30, width: 44 },
    { id: 'zoom-last', at: 66, width: 44 },
  ]
  for (const at of [31, 40, 48, 56, 65]) expect(handleAt(at, true, places)).toBe('scrubber')
  expect(handleAt(22, true, places)).toBe('zoom-first')
  expect(handleAt(76, true, places)).toBe('zoom-last')
})
