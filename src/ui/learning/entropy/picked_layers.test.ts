import { expect, test } from 'vitest'
import { layersOnChart, togglePick } from './picked_layers.ts'

test('a shallow model has a line for every layer, a deep one for those that are picked', () => {
  expect(layersOnChart(3)).toEqual([0, 1, 2, 3])
  expect(layersOnChart(7)).toHaveLength(8)
  expect(layersOnChart(24)).toEqual([0, 6, 12, 18, 24])
  togglePick(7, 24)
  togglePick(12, 24)
  expect(layersOnChart(24)).toEqual([0, 6, 7, 18, 24])
  // Another depth begins again.
  expect(layersOnChart(12)).toEqual([0, 3, 6, 9, 12])
})

test('no more lines than can be told apart', () => {
  for (const layer of [1, 2, 3, 4, 5, 8, 9]) togglePick(layer, 28)
  expect(layersOnChart(28)).toHaveLength(8)
  expect(layersOnChart(28)).toContain(9)
})
