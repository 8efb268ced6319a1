// The primary measure of a run, at a budget that all runs have reached.
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

/** How much of the budget every finished run has spent. */
export function commonBudget(results: readonly RunResult[], { budget }: Study): number {
  const finished = results.filter(({ status }) => status === 'finished')
  return Math.min(
    ...finished.map((result) => spentBy(result, budget.same, Number.POSITIVE_INFINITY)),
  )
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

/** Runs are planned to take equally much of a budget; what they took differs by their lengths a little. */
const SLACK = 1.02

/** A number per run; undefined where the run never measured it. */
export function measureOf(
  result: RunResult,
  { measure, budget }: Study,
  metric: string,
  until: number,
): number | undefined {
  const { at, values } = curveOf(result, metric, budget.same)
  const inside = at.filter((spent) => spent <= until * SLACK).length
  if (inside === 0) return undefined
  const within = values.slice(0, inside)
  if (measure.at === 'end') return within.at(-1)
  if (measure.at === 'last') return mean(within.slice(-5))
  return areaUnder({ at: at.slice(0, inside), values: within })
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
