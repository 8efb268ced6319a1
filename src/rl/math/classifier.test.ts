import { expect, test } from 'vitest'
import { classify, fitClassifier } from './classifier.ts'
import { lowest } from './lbfgs.ts'

test('a narrow valley is descended to its lowest point', () => {
  const { x, value, slope } = lowest(
    ([a, b], gradient) => {
      gradient.set([2 * (a - 3), 2000 * (b + 1)])
      return (a - 3) ** 2 + 1000 * (b + 1) ** 2
    },
    2,
    { tolerance: 1e-9, most: 100 },
  )
  expect(x[0]).toBeCloseTo(3, 8)
  expect(x[1]).toBeCloseTo(-1, 8)
  expect(value).toBeLessThan(1e-12)
  expect(slope).toBeLessThan(1e-9)
})

// Twelve points in three classes, and what SciPy's BFGS finds for them with gtol 1e-10.
const X = [
  0.13, -0.39, 1.64, 0.3, -0.54, 1.08, 1.3, 2.85, 0.3, -3.81, -0.62, 0.12, -2.33, -0.66, -0.25,
  -2.19, -0.54, -0.96, 0.41, 3.12, -0.13, 4.11, 0.33, 1.05,
]
const LABELS = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 1]
const FOUND = [
  -0.30534897, 0.7904065, 0.24976204, 0.70410907, -0.77760554, -0.10570381, -0.39876018,
  -0.01280097, -0.14405822,
]

test('the fit is the penalised likelihood’s highest point, whatever the columns are multiplied by', () => {
  const fit = fitClassifier({ cols: 2, x: X, labels: LABELS }, 3, 1)
  for (const [i, weight] of FOUND.entries()) expect(fit.weights[i]).toBeCloseTo(weight, 5)
  const scaled = X.map((v, i) => (i % 2 ? 1000 * v + 7 : v))
  const other = fitClassifier({ cols: 2, x: scaled, labels: LABELS }, 3, 1)
  for (const [i, weight] of FOUND.entries()) expect(other.weights[i]).toBeCloseTo(weight, 5)
  expect(classify(other, scaled)).toEqual(classify(fit, X))
  expect(fitClassifier({ cols: 2, x: X, labels: LABELS }, 3, 1)).toEqual(fit)
})

test('a column that says nothing leaves the commonest class', () => {
  const x = new Array(5).fill(4)
  const fit = fitClassifier({ cols: 1, x, labels: [1, 0, 1, 1, 0] }, 2, 1)
  expect(classify(fit, [4, 5])).toEqual([1, 1])
})
