import { expect, test } from 'vitest'
import type { Rgb } from '../../scales/palette.ts'
import type { Seen } from '../observed.ts'
import { observationOf, seenAt } from '../testing.ts'
import { type HeatPlan, packedRamp, paintHeat } from './heat_image.ts'

const RAMP: readonly Rgb[] = [
  [0, 0, 0],
  [100, 100, 100],
  [200, 200, 200],
]
const GREYS: readonly Rgb[] = [
  [1, 1, 1],
  [101, 101, 101],
  [201, 201, 201],
]

const plan = (rest: Partial<HeatPlan> = {}): HeatPlan => ({
  quantity: 'ent_layer_raw',
  rows: 2,
  width: 10,
  x: [0, 10],
  max: 2,
  ramp: packedRamp(RAMP),
  first_ramp: packedRamp(RAMP),
  ...rest,
})

/** Red of each pixel, row by row from the top; -1 where it is transparent. */
function painted(items: readonly Seen[], own: HeatPlan): number[][] {
  const words = new Uint32Array(own.rows * own.width).fill(7)
  paintHeat(items, own, words)
  const bytes = new Uint8Array(words.buffer)
  return Array.from({ length: own.rows }, (_, row) =>
    Array.from({ length: own.width }, (_, column) => {
      const at = (row * own.width + column) * 4
      return bytes[at + 3] === 0 ? -1 : bytes[at]
    }),
  )
}

const at = (step: number, values: readonly number[]) =>
  seenAt(step, observationOf({ ent_layer_raw: values }))

test('the last layer is on top, and a step is held until the next', () => {
  const [top, bottom] = painted([at(0, [0, 2]), at(4, [1, 1]), at(6, [2, 0])], plan())
  expect(top).toEqual([200, 200, 200, 200, 100, 100, 0, 0, -1, -1])
  expect(bottom).toEqual([0, 0, 0, 0, 100, 100, 200, 200, -1, -1])
})

test('steps without the quantity, numbers that are none, and what lies beyond stay transparent', () => {
  const items = [at(2, [0, Number.NaN]), seenAt(4, observationOf()), at(6, [2, 2])]
  const [top, bottom] = painted(items, plan())
  expect(bottom).toEqual([-1, -1, 0, 0, -1, -1, 200, 200, -1, -1])
  expect(top.slice(0, 6)).toEqual([-1, -1, -1, -1, -1, -1])
  expect(
    painted([], plan())
      .flat()
      .every((red) => red === -1),
  ).toBe(true)
})

test('only layer 0 takes the other ramp', () => {
  const [top, bottom] = painted([at(0, [2, 2])], plan({ first_ramp: packedRamp(GREYS) }))
  expect([top[0], bottom[0]]).toEqual([200, 201])
})

test('an axis that begins later begins with what was held then', () => {
  const [, bottom] = painted([at(0, [0, 0]), at(6, [2, 2])], plan({ x: [4, 9], width: 5 }))
  expect(bottom).toEqual([0, 0, 200, 200, 200])
})

test('values beyond the scale take its last colours', () => {
  const [top, bottom] = painted([at(0, [-1, 99])], plan())
  expect([top[0], bottom[0]]).toEqual([200, 0])
})
