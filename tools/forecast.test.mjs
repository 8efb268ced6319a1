import { expect, test } from 'vitest'
import {
  FEATURES,
  fitRidge,
  forecast,
  forecastReport,
  rowsOf,
  signFlips,
} from './forecast_model.mjs'

const wobble = (i) => (Math.abs(Math.sin(i * 12.9898 + 1) * 43758.5453) % 1) - 0.5

test('without a penalty a ridge regression is least squares', () => {
  const xs = Array.from({ length: 12 }, (_, i) => [wobble(i), wobble(i + 40)])
  const predict = fitRidge(
    xs,
    xs.map(([a, b]) => 2 * a - 3 * b + 1),
    0,
  )
  expect(predict([0.2, -0.1])).toBeCloseTo(1.7, 10)
  expect(
    fitRidge(
      xs,
      xs.map(([a]) => a),
      1e6,
    )([9, 9]),
  ).toBeCloseTo(
    fitRidge(
      xs,
      xs.map(([a]) => a),
      1e6,
    )([0, 0]),
    3,
  )
})

test('an end that an inner layer decides is forecast by inner layers alone', () => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const entropies = [wobble(i), wobble(i + 100), wobble(i + 200)]
    return { seed: i % 6, accuracy: wobble(i + 300), entropies, end: entropies[1] }
  })
  const { r2, fitting, judging } = forecast(rows)
  const [accuracy, final, inner] = Object.keys(FEATURES)
  expect([fitting, judging]).toEqual([30, 30])
  expect(r2[inner]).toBeGreaterThan(0.95)
  expect(r2[accuracy]).toBeLessThan(0.3)
  expect(r2[final]).toBeLessThan(0.3)
  const page = forecastReport([{ name: 'made_up', fitting, judging, r2 }], Object.keys(FEATURES))
  expect(page).toContain('better in 1 of 1 studies, p 1.000')
})

test('a run is read half way, and left out where it measured nothing there', () => {
  const run = (steps) => ({
    status: 'finished',
    seed: 3,
    begins: 10,
    series: {
      'val-core/x/acc/mean@4': [10, 20, 30].map((step) => [step, step / 100]),
      'layer/entropy/0': steps.map((step) => [step, 2]),
      'layer/entropy/1': steps.map((step) => [step, 1]),
    },
  })
  expect(rowsOf([run([10, 20, 30]), run([10, 30])])).toEqual([
    { seed: 3, accuracy: 0.2, entropies: [2, 1], end: 0.3 },
  ])
})

test('signs of equal differences are as extreme in two choices', () => {
  expect(signFlips([1, 1, 1, 1])).toBe(2 / 16)
  expect(signFlips([1, -1])).toBe(1)
})
