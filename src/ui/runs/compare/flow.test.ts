import { expect, test } from 'vitest'
import type { Observation } from '../../../host/protocol/observation.ts'
import { barsOf, flowOf } from './flow.ts'

const observation = (mean: Observation['mean']): Observation => ({
  num_hidden_layers: 2,
  rows: 'held_out',
  tokens: 4,
  mean,
  std: {},
  layer: 0,
  lenses: [],
  cost_ms: {},
})
const full = { dH_attn: [1, -2], dH_ffn: [0, Number.NaN], dH_layer: [0.5, 2] }

test('the newest observation that measured all changes counts', () => {
  const items = [
    { step: 1, bytes: 0, item: observation({ ...full, dH_attn: [9, 9] }) },
    { step: 2, bytes: 0, item: observation(full) },
    { step: 3, bytes: 0, item: observation({ dH_attn: [7, 7] }) },
  ]
  expect(flowOf(items)).toMatchObject({ step: 2, dH_attn: [1, -2] })
  expect(flowOf(items.slice(2))).toBeUndefined()
})

test('bars grow from the middle, up for more entropy, and stay within the figure', () => {
  const bars = barsOf({ step: 2, ...full }, 2, 100, 40)
  const bar = (key: string, layer: number) =>
    bars.find((other) => other.key === key && other.layer === layer)
  expect(bar('dH_attn', 1)).toMatchObject({ y: 10, height: 10 })
  expect(bar('dH_attn', 2)).toMatchObject({ y: 20, height: 20 })
  expect(bar('dH_ffn', 2)).toBeUndefined()
  expect(bars).toHaveLength(5)
  for (const { x, width, y, height } of bars) {
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(100)
    expect(y + height).toBeLessThanOrEqual(40)
  }
})
