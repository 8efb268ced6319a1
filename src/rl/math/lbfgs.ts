// Finds the lowest point of a smooth convex function, by limited-memory BFGS with halved steps
// (Nocedal and Wright, Numerical Optimization, algorithm 7.5). Float64, no random numbers.

/** Pairs of steps and changes of the gradient that are remembered. */
const MEMORY = 10
/** Share of the promised descent that a step must keep (Armijo). */
const KEPT = 1e-4
const MOST_HALVINGS = 40

/** The value at x; writes the gradient. */
export type Smooth = (x: Float64Array, gradient: Float64Array) => number

interface Lowest {
  readonly x: Float64Array
  readonly value: number
  /** Largest entry of the gradient there. */
  readonly slope: number
  readonly iterations: number
}

const dot = (a: Float64Array, b: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i]
  return sum
}
const addTo = (y: Float64Array, by: number, x: Float64Array): void => {
  for (let i = 0; i < y.length; i++) y[i] += by * x[i]
}
const largest = (x: Float64Array): number => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0)

interface Pair {
  /** The step, how it changed the gradient, and 1 / their product. */
  readonly step: Float64Array
  readonly change: Float64Array
  readonly rho: number
}

/** −H · gradient, with H from the pairs that are remembered. */
function direction(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const d = gradient.map((g) => -g)
  const shares: number[] = []
  for (let i = pairs.length - 1; i >= 0; i--) {
    const { step, change, rho } = pairs[i]
    shares[i] = rho * dot(step, d)
    addTo(d, -shares[i], change)
  }
  const last = pairs.at(-1)
  const scale = last ? 1 / (last.rho * dot(last.change, last.change)) : 1
  for (let i = 0; i < d.length; i++) d[i] *= scale
  for (const [i, { step, change, rho }] of pairs.entries())
    addTo(d, shares[i] - rho * dot(change, d), step)
  return d
}

/** Descends from 0 until no entry of the gradient is above `tolerance`, or no step descends. */
export function lowest(
  of: Smooth,
  size: number,
  { tolerance, most }: { readonly tolerance: number; readonly most: number },
): Lowest {
  let x: Float64Array = new Float64Array(size)
  let gradient: Float64Array = new Float64Array(size)
  let value = of(x, gradient)
  const pairs: Pair[] = []
  let iterations = 0
  for (; iterations < most && largest(gradient) > tolerance; iterations++) {
    const d = direction(gradient, pairs)
    const promised = dot(gradient, d)
    const next = new Float64Array(size)
    const nextGradient = new Float64Array(size)
    let by = iterations === 0 ? Math.min(1, 1 / largest(gradient)) : 1
    let found = value
    let halved = 0
    for (; halved < MOST_HALVINGS; halved++, by /= 2) {
      next.set(x)
      addTo(next, by, d)
      found = of(next, nextGradient)
      if (found <= value + KEPT * by * promised) break
    }
    if (halved === MOST_HALVINGS) break
    const step = next.map((v, i) => v - x[i])
    const change = nextGradient.map((g, i) => g - gradient[i])
    const product = dot(step, change)
    if (product > 0) pairs.push({ step, change, rho: 1 / product })
    if (pairs.length > MEMORY) pairs.shift()
    x = next
    gradient = nextGradient
    value = found
  }
  return { x, value, slope: largest(gradient), iterations }
}
