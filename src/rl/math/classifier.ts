// Fits a linear classifier: multinomial logistic regression with an L2 penalty, in float64. The
// same examples give the same bits.
import { lowest } from './lbfgs.ts'

/** Rows of numbers, [rows, cols], and what each row is: 0 … classes − 1. */
export interface Examples {
  readonly cols: number
  readonly x: ArrayLike<number>
  readonly labels: ArrayLike<number>
}

export interface Classifier {
  readonly cols: number
  readonly classes: number
  /** [classes, cols + 1] of standardised numbers; the last column is the bias. */
  readonly weights: Float64Array
  readonly means: Float64Array
  /** 1 where all rows have the same number. */
  readonly deviations: Float64Array
}

const TOLERANCE = 1e-6
const MOST_STEPS = 300

/** Mean and deviation (divisor n) of every column. */
function standard({ cols, x, labels }: Examples) {
  const rows = labels.length
  const means = new Float64Array(cols)
  const squares = new Float64Array(cols)
  for (let i = 0; i < rows * cols; i++) means[i % cols] += x[i] / rows
  for (let i = 0; i < rows * cols; i++) squares[i % cols] += (x[i] - means[i % cols]) ** 2 / rows
  return { means, deviations: squares.map((square) => Math.sqrt(square) || 1) }
}

/** Logits of one row: weights · (z, 1). */
function logitsOf(z: Float64Array, weights: Float64Array, out: Float64Array): void {
  const stride = z.length + 1
  for (let k = 0; k < out.length; k++) {
    let sum = weights[k * stride + z.length]
    for (let c = 0; c < z.length; c++) sum += weights[k * stride + c] * z[c]
    out[k] = sum
  }
}

/** Fits by the mean of −log softmax(W z + b)[label] + l2 / (2 rows) · ‖W‖², z standardised; the
 * bias is not penalised. l2 = 1 is scikit-learn's C = 1. */
export function fitClassifier(examples: Examples, classes: number, l2: number): Classifier {
  const { cols, x, labels } = examples
  const rows = labels.length
  const { means, deviations } = standard(examples)
  const z = Array.from({ length: rows }, (_, i) =>
    Float64Array.from({ length: cols }, (_, c) => (x[i * cols + c] - means[c]) / deviations[c]),
  )
  const stride = cols + 1
  const probs = new Float64Array(classes)
  const { x: weights } = lowest(
    (w, gradient) => {
      gradient.fill(0)
      let loss = 0
      for (let i = 0; i < rows; i++) {
        logitsOf(z[i], w, probs)
        const most = probs.reduce((a, b) => Math.max(a, b))
        let sum = 0
        for (let k = 0; k < classes; k++) sum += Math.exp(probs[k] - most)
        const lse = most + Math.log(sum)
        loss += (lse - probs[labels[i]]) / rows
        for (let k = 0; k < classes; k++) {
          const by = (Math.exp(probs[k] - lse) - Number(k === labels[i])) / rows
          const at = k * stride
          for (let c = 0; c < cols; c++) gradient[at + c] += by * z[i][c]
          gradient[at + cols] += by
        }
      }
      for (let j = 0; j < w.length; j++) {
        if (j % stride === cols) continue
        loss += ((l2 / rows) * w[j] ** 2) / 2
        gradient[j] += (l2 / rows) * w[j]
      }
      return loss
    },
    classes * stride,
    { tolerance: TOLERANCE, most: MOST_STEPS },
  )
  return { cols, classes, weights, means, deviations }
}

/** The likeliest class of every row of x [rows, cols]; the first of equals. */
export function classify(
  { cols, classes, weights, means, deviations }: Classifier,
  x: ArrayLike<number>,
): number[] {
  const logits = new Float64Array(classes)
  const z = new Float64Array(cols)
  return Array.from({ length: x.length / cols }, (_, i) => {
    for (let c = 0; c < cols; c++) z[c] = (x[i * cols + c] - means[c]) / deviations[c]
    logitsOf(z, weights, logits)
    return logits.reduce((best, logit, k) => (logit > logits[best] ? k : best), 0)
  })
}
