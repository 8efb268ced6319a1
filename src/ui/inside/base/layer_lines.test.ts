import { expect, test } from 'vitest'
import type { LensReading, Observation } from '../../../host/protocol/observation.ts'
import { observationOf, seenAt } from '../testing.ts'
import {
  layerLines,
  layerSteps,
  layersSay,
  layersTable,
  readableLines,
  readingTitle,
} from './layer_lines.ts'

const seen = (step: number, mean: Observation['mean'], readings?: readonly LensReading[]) =>
  seenAt(step, observationOf(mean, readings && { readings }))
const raw = { ent_layer_raw: [2, 1.5, 9], ent_layer_norm: [1.9, 1.25, 1] }
const tuned = (entropy: number[], kl: number[], fitted_after?: number): LensReading => ({
  readout: 'tuned',
  entropy,
  kl,
  ...(fitted_after !== undefined && { fitted_after }),
})
const ITEMS = [
  seen(0, raw),
  seen(1, raw, [tuned([1.5, 1.25], [0.5, 0.25], 1)]),
  seen(2, { ent_layer_raw: [2, 0.5, 9], ent_layer_norm: [1.9, 1, 0.5] }, [
    tuned([1.5, 0.75], [0.5, 0.375], 1),
  ]),
  seen(3, {}),
]
const look = () => ({ color: '', dash: [] })

test('every layer has a line in the reading that is chosen, and all end in the final policy', () => {
  const values = (reading: 'raw' | 'normed' | 'tuned' | 'jacobian') =>
    layerLines(layerSteps(ITEMS, reading, undefined), look).map(({ at, middle }) => [at, middle])
  const steps = [0, 1, 2]
  expect(values('raw')).toEqual([
    [steps, [2, 2, 2]],
    [steps, [1.5, 1.5, 0.5]],
    [steps, [1, 1, 0.5]],
  ])
  expect(values('normed')[1]).toEqual([steps, [1.25, 1.25, 1]])
  expect(values('tuned')).toEqual([
    [
      [1, 2],
      [1.5, 1.5],
    ],
    [
      [1, 2],
      [1.25, 0.75],
    ],
    [
      [1, 2],
      [1, 0.5],
    ],
  ])
  expect(values('jacobian')).toEqual([])
  expect(layerSteps(ITEMS, 'raw', 1)).toHaveLength(2)
})

test('a reading is named with where its lens comes from', () => {
  const title = (items: typeof ITEMS) =>
    readingTitle(layerSteps(items, 'tuned', undefined), 'tuned')
  expect(title(ITEMS)).toBe('tuned lens fitted after step 1')
  expect(title([...ITEMS, seen(5, raw, [tuned([1, 1], [0, 0], 4)])])).toBe(
    'tuned lens fitted after step 1 and 4',
  )
  expect(title([seen(1, raw, [tuned([1, 1], [0, 0])])])).toBe('tuned lens of the run’s file')
  expect(readingTitle(layerSteps(ITEMS, 'raw', undefined), 'raw')).toBe('raw state')
})

test('what was found says which layer moved most, and how far a lens is off', () => {
  const says = (reading: 'raw' | 'tuned', until?: number) =>
    layersSay(layerSteps(ITEMS, reading, until), reading)
  expect(says('raw')).toBe(
    'From step 0 to 2, raw state: below the final policy the entropy of layer 1 moved most, from 1.5 to 0.5 nats; that of the final policy went from 1 to 0.5 nats.',
  )
  expect(says('tuned')).toBe(
    'From step 1 to 2, tuned lens fitted after step 1: below the final policy the entropy of layer 1 moved most, from 1.25 to 0.75 nats; that of the final policy went from 1 to 0.5 nats. The lens was 0.25 nats (KL) from the final policy there and is 0.375 nats.',
  )
  expect(says('tuned', 0)).toBeUndefined()
  // The final policy may move more: the sentence ranks only those below it.
  const moved = [3, 4].map((step, i) =>
    seen(step, { ent_layer_raw: [2, 1.5 - i, 9], ent_layer_norm: [1.9, 1.25, 4 - 3 * i] }),
  )
  expect(layersSay(layerSteps(moved, 'raw', undefined), 'raw')).toContain(
    'below the final policy the entropy of layer 1 moved most, from 1.5 to 0.5 nats; that of the final policy went from 4 to 1 nats.',
  )
  expect(layersTable(layerSteps(ITEMS, 'tuned', undefined), 'tuned')).toEqual({
    columns: ['step', 'embedding, tuned lens', 'layer 1, tuned lens', 'final policy'],
    rows: [
      ['1', '1.5', '1.25', '1'],
      ['2', '1.5', '0.75', '0.5'],
    ],
  })
})

test('an embedding far above the layers is named instead of drawn', () => {
  const drawn = (embedding: number) => {
    const items = [1, 2].map((step) =>
      seen(step, { ent_layer_raw: [embedding, 1, 9], ent_layer_norm: [1, 1, 1] }),
    )
    return readableLines(layerLines(layerSteps(items, 'raw', undefined), look))
  }
  expect(drawn(2.9).drawn).toHaveLength(3)
  expect(drawn(2.9).above).toBeUndefined()
  expect(drawn(6.9).drawn.map(({ key }) => key)).toEqual(['1', '2'])
  expect(drawn(6.9).above).toContain('Above this axis: embedding, 6.900 nats')
  expect(readableLines([]).drawn).toEqual([])
})
