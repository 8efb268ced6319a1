// Computes and says what the stages of the steps took, without React.

import type { Costs } from '../../document/experiment/costs/costs.ts'
import type { Gaps } from '../../record/run/time_left.ts'
import { formatDuration, formatNumber, formatShare } from '../kit/format.ts'
import type { MoreChart } from '../learning/more/chart_entry.ts'
import { chartOfLog } from '../learning/more/log_notes.ts'
import { formatSeconds, timeCharts } from '../learning/more/more_charts.ts'
import { OTHER_STAGES, STAGES } from '../learning/more/stages.ts'

const TIME = 'timing_s/'
const STEP = `${TIME}step`

interface Column {
  readonly values: ArrayLike<number>
  readonly length: number
}

/** The charts of times; of a log of this kind without what is true of the lab's own steps alone. */
export const stepCharts = (
  metrics: readonly string[],
  kind: string | undefined,
): readonly MoreChart[] =>
  timeCharts(metrics).map((chart) =>
    kind === undefined ? chart : chartOfLog(chart, kind, metrics),
  )

/** What the steps of a run took. */
export interface StepShares {
  /** Seconds from its beginning to its numbers. The next step begins before those are there. */
  readonly median: number
  readonly count: number
  readonly stages: readonly { readonly name: string; readonly share: number }[]
}

const THROUGHPUT = 'perf/throughput'

const numbers = ({ values, length }: Column): number[] =>
  Array.from({ length }, (_, i) => values[i]).filter(Number.isFinite)
const sum = (values: readonly number[]): number => values.reduce((all, x) => all + x, 0)

/** Seconds that half of the steps took at most, and the stages that took most of all steps' time,
 * the largest first. Validations are no part of a step. Undefined before any step was timed. */
export function largestStages(series: ReadonlyMap<string, Column>): StepShares | undefined {
  const column = series.get(STEP)
  const steps = column ? numbers(column).sort((a, b) => a - b) : []
  const all = sum(steps)
  if (!(all > 0)) return undefined
  const stages = [...series]
    .filter(([metric]) => metric.startsWith(TIME) && metric !== STEP)
    .map(([metric, own]) => [metric.slice(TIME.length), sum(numbers(own))] as const)
    .filter(([stage, seconds]) => stage !== 'testing' && seconds > 0)
    .map(([stage, seconds]) => ({
      name: STAGES[stage] ?? OTHER_STAGES[stage] ?? stage,
      share: seconds / all,
    }))
    .sort((a, b) => b.share - a.share)
  return { median: steps[Math.floor((steps.length - 1) / 2)], count: steps.length, stages }
}

/** Stages that are named. */
const MOST_STAGES = 3
/** Seconds from which their parts do not matter. */
const LONG = 10

/** Seconds from the arrival of one step to that of the next, the median of those that are kept;
 * undefined where fewer than two are, as of an opened record. */
export function stepPace(gaps: Gaps): number | undefined {
  const all = Object.values(gaps)
    .flatMap((own) => own.map(({ ms }) => ms / 1000))
    .sort((a, b) => a - b)
  return all.length < 2 ? undefined : all[(all.length - 1) >> 1]
}

const durationText = (seconds: number): string =>
  seconds < LONG ? formatSeconds(seconds) : formatDuration(seconds)

/** From the beginning of a step to its numbers. Steps overlap where they come more often than they
 * are done: one that was asked for alone does not. */
function tookText({ median, count }: StepShares, pace: number | undefined): string {
  const took = durationText(median)
  if (count === 1) return `From its beginning to its numbers the step took ${took}.`
  return pace !== undefined && pace < median
    ? `From its beginning to its numbers the median step took ${took}: its latency, as the next step begins before those are there.`
    : `From its beginning to its numbers the median step took ${took}.`
}

/** 'A step came every 1.1 s. Its latency was 2.1 s … Of it sampling 50 %, policy learns 34 %.' */
export function stepTimeWords(found: StepShares, pace?: number): string {
  const every = pace === undefined ? '' : `A step came every ${durationText(pace)} (median). `
  const steps = `${every}${tookText(found, pace)}`
  const shares = found.stages
    .slice(0, MOST_STAGES)
    .map(({ name, share }) => `${name} ${formatShare(share)}`)
    .join(', ')
  return shares === '' ? steps : `${steps} By stage: ${shares}.`
}

/** What the matrix products of a run's steps came to, against the peak of this adapter: at least
 * so much, because steps overlap; undefined without one of them. GFLOP/s. */
export function againstPeak(
  series: ReadonlyMap<string, Column>,
  costs: Costs,
  peak: number,
): string | undefined {
  const column = series.get(THROUGHPUT)
  const speeds = column ? numbers(column).sort((a, b) => a - b) : []
  if (speeds.length === 0 || costs.tokens === 0 || !(peak > 0)) return undefined
  const median = speeds[Math.floor((speeds.length - 1) / 2)]
  const reached = (median * costs.arithmetic) / costs.tokens
  // The probe is no bound: no share of it is more than the whole.
  const share = reached <= peak ? formatShare(reached / peak) : 'more than the whole'
  return `At the median of ${formatNumber(median)} tokens a second, the matrix products come to at least ${formatNumber(reached)} GFLOP/s: ${share} of the most measured on this adapter, ${formatNumber(peak)} GFLOP/s.`
}
