// Compares values with golden values, and prints one line per case and place.

/** Where a number was computed: a float64 reference, plain TypeScript that the trainer calls, or
 * kernels. */
export type Place = 'reference' | 'driver' | 'gpu'

/** A value is in tolerance when |actual - expected| <= atol + rtol * |expected|. */
export type Tolerance = { readonly rtol: number; readonly atol: number } | 'exact'

/** One value of a case: any nesting of lists and records; a typed array stands for a row-major list
 * of any depth. */
export interface Output {
  readonly actual: unknown
  readonly expected: unknown
  /** For all of it, or chosen by the path of each number, e.g. `metrics.actor/ppo_kl`. */
  readonly tolerance: Tolerance | ((path: string) => Tolerance)
  /** Extents of two typed arrays, to name the place of a number in them. */
  readonly shape?: readonly number[]
}

/** What one place computed for one case, by the names of the expected values. */
export interface Check {
  /** `<file or folder>/<case>`. */
  readonly case: string
  readonly on: Place
  readonly outputs: Readonly<Record<string, Output>>
}

export interface Comparison {
  readonly max_abs: number
  /** Over expected values other than 0. */
  readonly maxRel: number
  /** The number that uses most of its tolerance, e.g. `grad_log_prob[3,5]`; empty when all are
   * equal. */
  readonly where: string
  readonly ok: boolean
  /** Why not ok, in a sentence. */
  readonly problem?: string
}

/** One printed line. */
export type Result =
  | ({ readonly case: string; readonly on: Place; readonly status: 'ok' | 'FAIL' } & Comparison)
  | {
      readonly case: string
      readonly status: 'FAIL'
      readonly on?: Place
      readonly problem: string
    }
  /** Golden data that the lab has no code for yet. */
  | { readonly case: string; readonly status: 'later' }

type Step = number | string

/** Compares all outputs of a check; the first sentence of `problem` is about the worst of them. */
export function runCheck(check: Check): Result {
  const tally = new Tally()
  for (const [name, { actual, expected, tolerance, shape }] of Object.entries(check.outputs)) {
    const of = typeof tolerance === 'function' ? tolerance : () => tolerance
    if (shape && isFlat(actual) && isFlat(expected) && actual.length === expected.length)
      walkFlat(tally, name, shape, { actual, expected }, of(name))
    else walk(tally, [name], actual, expected, of)
  }
  const comparison = tally.result()
  return { case: check.case, on: check.on, status: comparison.ok ? 'ok' : 'FAIL', ...comparison }
}

/** Compares one value; see Output. Missing and extra keys, other shapes, NaN and Infinity are
 * failures. */
export function compare(
  name: string,
  actual: unknown,
  expected: unknown,
  tolerance: Output['tolerance'],
): Comparison {
  const tally = new Tally()
  const of = typeof tolerance === 'function' ? tolerance : () => tolerance
  walk(tally, [name], actual, expected, of)
  return tally.result()
}

/** The worst over many numbers, and what is wrong with the rest. */
class Tally {
  #maxAbs = 0
  #maxRel = 0
  #worst = { share: 0, where: '', text: '' }
  #count = 0
  #outside = 0
  readonly #problems: string[] = []

  problem(text: string): void {
    this.#problems.push(text)
  }

  number(at: () => string, actual: number, expected: number, tolerance: Tolerance): void {
    this.#count++
    if (actual === expected) return
    const error = Math.abs(actual - expected)
    const size = Math.abs(expected)
    // NaN and Infinity compare as the largest error there is.
    const abs = Number.isFinite(error) ? error : Number.POSITIVE_INFINITY
    const allowed = tolerance === 'exact' ? 0 : tolerance.atol + tolerance.rtol * size
    const share = abs / allowed
    if (!(abs <= allowed)) this.#outside++
    this.#maxAbs = Math.max(this.#maxAbs, abs)
    if (size > 0) this.#maxRel = Math.max(this.#maxRel, abs / size)
    if (share > this.#worst.share) {
      const where = at()
      this.#worst = { share, where, text: `${where}: expected ${expected}, got ${actual}` }
    }
  }

  result(): Comparison {
    if (this.#outside > 0)
      this.#problems.push(
        `${this.#worst.text} (${this.#outside} of ${this.#count} numbers out of tolerance)`,
      )
    const ok = this.#problems.length === 0
    return {
      max_abs: this.#maxAbs,
      maxRel: this.#maxRel,
      where: this.#worst.where,
      ok,
      ...(ok ? {} : { problem: this.#problems.join('; ') }),
    }
  }
}

/** `a`, `a.b`, `a[1,2]`, `a[1].b[2]`. */
function pathText(path: readonly Step[]): string {
  let text = ''
  path.forEach((step, i) => {
    if (typeof step === 'number')
      text = typeof path[i - 1] === 'number' ? `${text.slice(0, -1)},${step}]` : `${text}[${step}]`
    else text = text === '' ? step : `${text}.${step}`
  })
  return text
}

type AnyRecord = Record<string, unknown>
const isRecord = (x: unknown): x is AnyRecord =>
  typeof x === 'object' && x !== null && !Array.isArray(x) && !ArrayBuffer.isView(x)
const isFlat = (x: unknown): x is Float64Array => ArrayBuffer.isView(x) && !(x instanceof DataView)

const kindOf = (x: unknown): string => {
  if (x === null || x === undefined) return 'nothing'
  if (isFlat(x)) return `${x.length} values`
  if (Array.isArray(x)) return `a list of ${x.length}`
  return typeof x === 'object' ? 'a record' : `${typeof x} ${x}`
}

function walk(
  tally: Tally,
  path: readonly Step[],
  actual: unknown,
  expected: unknown,
  tolerance: (path: string) => Tolerance,
): void {
  const unlike = () =>
    tally.problem(`${pathText(path)}: expected ${kindOf(expected)}, got ${kindOf(actual)}`)
  if (typeof expected === 'number') {
    const value = typeof actual === 'boolean' ? Number(actual) : actual
    if (typeof value !== 'number') return unlike()
    tally.number(() => pathText(path), value, expected, tolerance(pathText(path)))
  } else if (isFlat(actual) && (Array.isArray(expected) || isFlat(expected))) {
    const numbers = flatNumbers(expected, path)
    if (!numbers || numbers.length !== actual.length) return unlike()
    for (const [i, { path: at, value }] of numbers.entries())
      tally.number(() => pathText(at), actual[i], value, tolerance(pathText(path)))
  } else if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return unlike()
    expected.forEach((value, i) => {
      walk(tally, [...path, i], actual[i], value, tolerance)
    })
  } else if (isRecord(expected)) {
    if (!isRecord(actual)) return unlike()
    walkRecord(tally, path, actual, expected, tolerance)
  } else if ((actual ?? null) !== (expected ?? null)) unlike()
}

/** Two typed arrays of one shape: no path per number, because goldens of models have millions. */
function walkFlat(
  tally: Tally,
  name: string,
  shape: readonly number[],
  { actual, expected }: { readonly actual: Float64Array; readonly expected: Float64Array },
  tolerance: Tolerance,
): void {
  const placeOf = (i: number): string => {
    const place: number[] = []
    for (const size of [...shape].reverse()) {
      place.unshift(i % size)
      i = Math.floor(i / size)
    }
    return pathText([name, ...place])
  }
  for (let i = 0; i < expected.length; i++)
    tally.number(() => placeOf(i), actual[i], expected[i], tolerance)
}

function walkRecord(
  tally: Tally,
  path: readonly Step[],
  actual: AnyRecord,
  expected: AnyRecord,
  tolerance: (path: string) => Tolerance,
): void {
  const names = (from: AnyRecord, other: AnyRecord) =>
    Object.keys(from).filter((name) => !Object.hasOwn(other, name))
  const missing = names(expected, actual)
  const extra = names(actual, expected)
  if (missing.length)
    tally.problem(`${pathText(path)}: expected ${missing.join(', ')}, which was not computed`)
  if (extra.length)
    tally.problem(`${pathText(path)}: computed ${extra.join(', ')}, which is not expected`)
  for (const name of Object.keys(expected))
    if (Object.hasOwn(actual, name))
      walk(tally, [...path, name], actual[name], expected[name], tolerance)
}

/** The numbers of a nested list in row-major order, or undefined when something else is in it. */
function flatNumbers(
  value: unknown,
  path: readonly Step[],
): { path: readonly Step[]; value: number }[] | undefined {
  if (typeof value === 'number') return [{ path, value }]
  if (!Array.isArray(value) && !isFlat(value)) return undefined
  const parts = Array.from(value as ArrayLike<unknown>, (x, i) => flatNumbers(x, [...path, i]))
  const known = parts.filter((part) => part !== undefined)
  return known.length === parts.length ? known.flat() : undefined
}

const short = (x: number) => (x === 0 ? '0' : x.toExponential(1).replace('e+', 'e'))

/** E.g. `ok    gae/seed101  driver  abs 3.1e-16  rel 2.4e-15  at advantages[2,4]`. */
export function resultLine(result: Result): string {
  const start = `${result.status.padEnd(5)} ${result.case}`
  if (result.status === 'later') return start
  const place = result.on === undefined ? start : `${start}  ${result.on}`
  const errors =
    'max_abs' in result
      ? `  abs ${short(result.max_abs)}  rel ${short(result.maxRel)}${result.where && `  at ${result.where}`}`
      : ''
  return `${place}${errors}${result.problem === undefined ? '' : `\n      ${result.problem}`}`
}

/** Counts, after every failure once more. */
export function summary(results: readonly Result[]): string {
  const count = (status: Result['status']) => results.filter((r) => r.status === status).length
  const failed = results.filter(({ status }) => status === 'FAIL').map(resultLine)
  const again = failed.length ? ['', 'Failures:', ...failed, ''] : []
  const counts = `${count('ok')} passed, ${count('FAIL')} failed, ${count('later')} later`
  return [...again, counts].join('\n')
}
