// Computes the primary measure of a run, at a budget that all runs have reached.
import { mean } from '../../rl/math/stats.ts'
import type { RunResult } from './results.ts'
import { areaUnder } from './statistics/rliable.ts'
import type { Study } from './study.ts'

/** The metric that a measure names: itself, or the only one that ends so. */
export function metricOf(results: readonly RunResult[], wanted: string): string | undefined {
  const names = new Set(results.flatMap(({ series }) => Object.keys(series)))
  if (names.has(wanted)) return wanted
  const ending = [...names].filter((name) => name.endsWith(wanted))
  return ending.length === 1 ? ending[0] : undefined
}

/** Where the runs of a study are read, so that all are read alike. */
export interface Reading {
  /** How much of the budget every finished run has spent. */
  readonly until: number
  /** Of measures at a level: the metric that reaches it, and by seed the level that every run of
   * the seed came to. */
  readonly reaches?: string | undefined
  readonly levels: ReadonlyMap<number, number>
}

/** How these runs are read beside each other. */
export function readingOf(results: readonly RunResult[], { budget, measure }: Study): Reading {
  const finished = results.filter(({ status }) => status === 'finished')
  const until = Math.min(
    ...finished.map((result) => spentBy(result, budget.same, Number.POSITIVE_INFINITY)),
  )
  const reaches = measure.reaches === null ? undefined : metricOf(results, measure.reaches)
  const levels = new Map<number, number>()
  for (const result of reaches === undefined ? [] : finished) {
    const highest = Math.max(...within(result, reaches ?? '', budget.same, until).values)
    levels.set(result.seed, Math.min(highest, levels.get(result.seed) ?? highest))
  }
  return { until, reaches, levels }
}

type Budget = Study['budget']['same']

/** What a run has spent of a budget when a step is over. */
export function spentBy({ costs, begins }: RunResult, same: Budget, step: number): number {
  if (same === 'steps') {
    const last = costs.responses.at(-1)?.[0] ?? 0
    return Math.min(step, last) - begins
  }
  return costs[same].findLast(([at]) => at <= step)?.[1] ?? 0
}

/** A metric of a run by what it had spent: [spent, value], from the end of the warm start on. */
export function curveOf(result: RunResult, metric: string, same: Budget) {
  const points = (result.series[metric] ?? []).filter(([step]) => step >= result.begins)
  return {
    at: points.map(([step]) => spentBy(result, same, step)),
    values: points.map(([, value]) => value),
  }
}

/** Runs are planned to take equally much of a budget; what they took differs by their lengths a
 * little. */
const SLACK = 1.02

/** A curve as far as the budget of all runs goes. */
function within(result: RunResult, metric: string, same: Budget, until: number) {
  const { at, values } = curveOf(result, metric, same)
  const inside = at.filter((spent) => spent <= until * SLACK).length
  return { at: at.slice(0, inside), values: values.slice(0, inside) }
}

/** The value of `values` where `rising`, measured at the same places, first comes to `level`;
 * undefined where it never does. */
function valueAtLevel(
  values: readonly number[],
  rising: readonly number[],
  level: number,
): number | undefined {
  const i = rising.findIndex((height) => height >= level)
  if (i <= 0) return values[i]
  const share = (level - rising[i - 1]) / (rising[i] - rising[i - 1])
  return values[i - 1] + share * (values[i] - values[i - 1])
}

/** A number per run; undefined where the run never measured it. */
export function measureOf(
  result: RunResult,
  { measure, budget }: Study,
  metric: string,
  { until, reaches, levels }: Reading,
): number | undefined {
  const { at, values } = within(result, metric, budget.same, until)
  if (measure.at === 'level') {
    const level = levels.get(result.seed)
    if (reaches === undefined || level === undefined) return undefined
    return valueAtLevel(values, within(result, reaches, budget.same, until).values, level)
  }
  if (values.length === 0) return undefined
  if (measure.at === 'end') return values.at(-1)
  if (measure.at === 'first') return values[at.findIndex((spent) => spent > 0)]
  if (measure.at === 'last') return mean(values.slice(-5))
  return areaUnder({ at, values })
}

/** A run that ended worse than half of what it began reinforcement with, or that broke. */
export function hasCollapsed(
  result: RunResult,
  { measure, budget }: Study,
  metric: string,
): boolean {
  if (result.status === 'failed') return true
  if (measure.goal === 'lower') return false
  const { values } = curveOf(result, metric, budget.same)
  const [first, last] = [values[0], values.at(-1)]
  return first !== undefined && last !== undefined && first > 0.02 && last < first / 2
}
