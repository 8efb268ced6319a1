// Compares series and weights of a run against those of a golden trajectory.
import { trainedPrefix } from '../../src/model/layout/flat_params.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { check, joined, type ModelCase } from './model_case.ts'
import { goldenOf } from './trajectory_plan.ts'

type Numbers = ArrayLike<number>
/** Weights by name. */
export type Weights = Readonly<Record<string, Float32Array | Float64Array>>

/** One number per update, by the names of the goldens. */
export type Series = Record<string, number[]>

/** What a run of a policy leaves behind: at its end, and after an inner phase. */
export interface Run {
  readonly series: Series
  /** Of each batch. */
  readonly old_log_probs: readonly Numbers[]
  readonly final: Weights
  readonly after_phase1?: Weights
}

/** Adds one update's numbers. */
export function append(series: Series, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    series[name] ??= []
    series[name].push(value)
  }
}

/** A whole run: series, weights, and what was computed on the way. */
export function* runChecks(c: ModelCase, tag: string, run: Run, on: Place): Generator<Check> {
  const { expected } = c
  const outputs = seriesOutputs(c, tag, run.series, on)
  if (run.old_log_probs.length > 0)
    outputs.old_log_probs = expected.output(`traj.${tag}.old_log_probs`, joined(run.old_log_probs))
  Object.assign(outputs, weightOutputs(c, tag, 'final', run.final))
  if (run.after_phase1) {
    Object.assign(outputs, weightOutputs(c, tag, 'after_phase1', run.after_phase1))
    outputs['after_phase1.untouched'] = untouched(c, run.after_phase1)
  }
  yield check(c, `traj.${tag}`, on, outputs)
  if (on === 'reference') yield float32Check(c, tag, run.series)
}

/** Series against Hugging Face's: the float64 run for the reference, the float32 run for
 * kernels. */
export function seriesOutputs(
  c: ModelCase,
  tag: string,
  series: Series,
  on: Place,
): Record<string, Output> {
  if (on === 'gpu') return float32Outputs(c, tag, series)
  const outputs: Record<string, Output> = {}
  for (const [name, actual] of goldenSeries(c, tag, series)) {
    const expected = goldenOf(c, tag).vector(`${name}_fp64`)
    // The goldens' float64 run begins from the same float32 weights: rounding alone is left.
    const tolerance = { rtol: 1e-8, atol: 1e-8 }
    outputs[name] = { actual, expected, shape: [expected.length], tolerance }
  }
  return outputs
}

/** The float32 series are the same run: the reference is as near to them as kernels have to be. */
export const float32Check = (c: ModelCase, tag: string, series: Series): Check =>
  check(c, `traj.${tag}.float32`, 'reference', float32Outputs(c, tag, series))

function float32Outputs(c: ModelCase, tag: string, series: Series): Record<string, Output> {
  const atols = goldenOf(c, tag).fields('recommended_series_atol')
  const outputs: Record<string, Output> = {}
  for (const [name, actual] of goldenSeries(c, tag, series)) {
    const expected = c.expected.numbers(`traj.${tag}.${name}`)
    const tolerance = { rtol: 0, atol: atols.number(name) }
    outputs[name] = { actual, expected, shape: [expected.length], tolerance }
  }
  return outputs
}

/** Those of the series that the case has. */
const goldenSeries = ({ expected }: ModelCase, tag: string, series: Series) =>
  Object.entries(series)
    .filter(([name]) => expected.has(`traj.${tag}.${name}`))
    .map(([name, values]) => [name, Float64Array.from(values)] as const)

/** √(Σ (x - ref)² / Σ (ref - start)²) over all parameters, against the arrays
 * `traj.<tag>.<when>.<parameter>`. Where that is too much, the output's name tells the parameter
 * that differs most. */
export function weightOutputs(
  c: Pick<ModelCase, 'expected' | 'params'>,
  tag: string,
  when: 'final' | 'after_phase1',
  weights: Weights,
): Record<string, Output> {
  const atol = goldenOf(c, tag).number('recommended_relative_l2_tolerance')
  let error = 0
  let moved = 0
  let worst = { size: -1, name: '' }
  for (const [param, start] of Object.entries(c.params)) {
    const name = `traj.${tag}.${when}.${param}`
    const end = c.expected.numbers(name, start.length)
    const share = squaredDistance(weights[param], end)
    const size = Number.isNaN(share) ? Number.POSITIVE_INFINITY : share
    if (size > worst.size) worst = { size, name }
    error += share
    moved += squaredDistance(end, start)
  }
  const actual = Math.sqrt(error / moved)
  const hint = actual <= atol ? '' : ` (most of it in ${worst.name})`
  return { [`${when}.relative_l2${hint}`]: { actual, expected: 0, tolerance: { rtol: 0, atol } } }
}

function squaredDistance(a: Numbers, b: Numbers): number {
  let sum = 0
  for (let i = 0; i < b.length; i++) sum += (a[i] - b[i]) ** 2
  return sum
}

/** Parameters above the inner layer keep their bits. */
function untouched(c: ModelCase, weights: Weights): Output {
  const { count } = trainedPrefix(c.model.layout, c.layer)
  const above = c.model.layout.params.filter(({ offset }) => offset >= count)
  const changed = above.filter(({ name }) => weights[name].some((x, i) => x !== c.params[name][i]))
  return { actual: changed.map(({ name }) => name), expected: [], tolerance: 'exact' }
}
