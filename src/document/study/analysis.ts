// Compares the finished runs of a study: arms beside the baseline, paired by seed.
import { mean, variance } from '../../rl/math/stats.ts'
import { type Arm, baselineOf, runExperiment } from './arms.ts'
import { boundsOf } from './bounds.ts'
import { fingerprintOf } from './fingerprint.ts'
import {
  curveOf,
  hasCollapsed,
  measureOf,
  metricOf,
  type Reading,
  readingOf,
  spentBy,
} from './measure.ts'
import type { RunResult } from './results.ts'
import { equivalenceTest } from './statistics/equivalence.ts'
import { seedsNeeded } from './statistics/power.ts'
import { bootstrapInterval, holm, signFlipTest, signTest } from './statistics/resampling.ts'
import { interquartileMean, probabilityOfImprovement } from './statistics/rliable.ts'
import { clamped, FEWEST_PAIRS, type Interval, tInterval, tTest } from './statistics/student.ts'
import { measuresOf, type Study } from './study.ts'

/** One run's number. */
interface SeedValue {
  readonly seed: number
  readonly value: number
  readonly hasCollapsed: boolean
}

/** Whether a difference is smaller than a margin. */
export interface Equality {
  readonly margin: number
  /** Of two one-sided t tests, after Holm's correction over all arms of the study. */
  readonly p: number
  /** The 90 % interval, which lies within the margin where p is below 5 % before the correction. */
  readonly interval: Interval
}

/** An arm minus the baseline, by seed. */
export interface Comparison {
  readonly pairs: readonly { readonly seed: number; readonly difference: number }[]
  readonly mean: number
  /** Absent for fewer than FEWEST_PAIRS, as all that could be taken for an answer. */
  readonly t?: Interval | undefined
  readonly bootstrap?: Interval | undefined
  readonly p_t?: number | undefined
  readonly p_sign?: number | undefined
  readonly p_permutation?: number | undefined
  /** Of the test that the study decides by. */
  readonly p?: number | undefined
  /** Holm's of it, over all arms and measures of the study. */
  readonly p_holm?: number | undefined
  /** That a run of the arm beats one of the baseline. */
  readonly probability_of_improvement: number
  /** equal: no difference was found, and it is shown to be smaller than the study's margin. */
  readonly verdict: 'better' | 'worse' | 'equal' | 'none' | 'too few'
  /** Where the study says which difference counts as none. */
  readonly equality?: Equality | undefined
  /** Seeds in all that would find a difference of this size, in four of five studies. */
  readonly seeds_needed?: number | undefined
}

/** A comparison that nothing has been concluded from yet. */
type Compared = Omit<Comparison, 'p_holm' | 'verdict' | 'seeds_needed'>

export interface ArmResult {
  readonly arm: Arm
  readonly values: readonly SeedValue[]
  readonly mean: number
  readonly deviation: number
  readonly interquartile_mean: number
  readonly t?: Interval | undefined
  readonly spent: number
  /** The metric where reinforcement began, mean over the runs. */
  readonly began: number
  readonly comparison?: Comparison
}

export interface Analysis {
  readonly metric: string | undefined
  /** The budget at which the measure is read. */
  readonly until: number
  readonly arms: readonly ArmResult[]
  readonly baseline: string
  readonly runs: readonly RunResult[]
  /** Kept runs that belong to no arm of the study as it is now. */
  readonly leftOver: number
  /** What a reader must know before the numbers. */
  readonly warnings: readonly string[]
  /** The same by the study's further primary measures. */
  readonly also?: readonly Omit<Analysis, 'also'>[]
}

/** Two-sided. */
export const ALPHA = 0.05

/** The results by run: `arm, seed` of the study as it is now. */
export function matchResults(
  arms: readonly Arm[],
  seeds: readonly number[],
  results: readonly RunResult[],
): Map<string, RunResult> {
  const known = new Map(results.map((result) => [result.fingerprint, result]))
  const matched = new Map<string, RunResult>()
  for (const arm of arms)
    for (const seed of seeds) {
      const found = known.get(fingerprintOf(runExperiment(arm, seed)))
      if (found) matched.set(runKey(arm, seed), found)
    }
  return matched
}

export const runKey = ({ name }: Pick<Arm, 'name'>, seed: number): string => `${name}\n${seed}`

/** What one measure says of every arm, before what it says is corrected. */
interface Measured {
  readonly study: Study
  readonly metric: string | undefined
  readonly reading: Reading
  readonly values: ReadonlyMap<string, readonly SeedValue[]>
  /** Of all arms but the baseline, in their order. */
  readonly compared: readonly Compared[]
}

/** Everything that the report and the page show. */
export function analyse(
  study: Study,
  arms: readonly Arm[],
  results: readonly RunResult[],
): Analysis {
  const matched = matchResults(arms, study.seeds, results)
  const measured = measuresOf(study).map((measure) =>
    measuredBy({ ...study, measure }, arms, matched),
  )
  const all = measured.flatMap((one) => one.compared.map((found) => ({ ...one, found })))
  // An arm with too few seeds counts, so that the others' numbers do not change with its answer.
  const adjusted = holm(all.map(({ found }) => found.p ?? 1))
  const equal = equalities(all)
  const judgedAll = all.map(({ found, study: own }, i) =>
    judged({ ...found, equality: equal[i] }, adjusted[i], own),
  )
  const leftOver = new Set(results.map(({ fingerprint }) => fingerprint)).size - matched.size
  const each = measured.map((one, i) => {
    const before = measured.slice(0, i).reduce((sum, { compared }) => sum + compared.length, 0)
    const comparisons = judgedAll.slice(before, before + one.compared.length)
    return { ...analysisOf(one, arms, matched, comparisons), leftOver }
  })
  const [first, ...also] = each
  return also.length > 0 ? { ...first, also } : first
}

function measuredBy(
  study: Study,
  arms: readonly Arm[],
  matched: ReadonlyMap<string, RunResult>,
): Measured {
  const runs = [...matched.values()]
  const metric = metricOf(runs, study.measure.metric)
  const reading = readingOf(runs, study)
  const baseline = baselineOf(study, arms)
  const values = new Map(
    arms.map((arm) => [arm.name, metric ? valuesOf(study, arm, matched, metric, reading) : []]),
  )
  const against = values.get(baseline.name) ?? []
  const others = arms.filter(({ name }) => name !== baseline.name)
  const compared = others.map(({ name }) => compare(values.get(name) ?? [], against, study))
  return { study, metric, reading, values, compared }
}

function analysisOf(
  { study, metric, reading, values }: Measured,
  arms: readonly Arm[],
  matched: ReadonlyMap<string, RunResult>,
  judgedOthers: readonly Comparison[],
): Omit<Analysis, 'leftOver'> {
  const baseline = baselineOf(study, arms)
  const others = arms.filter(({ name }) => name !== baseline.name)
  const comparisons = new Map(others.map(({ name }, i) => [name, judgedOthers[i]]))
  return {
    metric,
    until: reading.until,
    baseline: baseline.name,
    runs: [...matched.values()],
    warnings: warningsOf(study, arms, matched, metric),
    arms: arms.map((arm) => {
      const own = values.get(arm.name) ?? []
      const numbers = own.map(({ value }) => value)
      const comparison = comparisons.get(arm.name)
      const ownRuns = study.seeds.flatMap((seed) => matched.get(runKey(arm, seed)) ?? [])
      return {
        arm,
        values: own,
        mean: mean(numbers),
        deviation: Math.sqrt(variance(numbers, { unbiased: true })),
        interquartile_mean: interquartileMean(numbers),
        t:
          numbers.length < FEWEST_PAIRS
            ? undefined
            : clamped(tInterval(numbers), boundsOf(metric ?? '')),
        spent: mean(
          ownRuns.map((run) => spentBy(run, study.budget.same, Number.POSITIVE_INFINITY)),
        ),
        began: mean(
          ownRuns.flatMap((run) =>
            metric ? (curveOf(run, metric, study.budget.same).values[0] ?? []) : [],
          ),
        ),
        ...(comparison && { comparison }),
      }
    }),
  }
}

function valuesOf(
  study: Study,
  arm: Arm,
  matched: ReadonlyMap<string, RunResult>,
  metric: string,
  reading: Reading,
): SeedValue[] {
  return study.seeds.flatMap((seed) => {
    const result = matched.get(runKey(arm, seed))
    const value = result && measureOf(result, study, metric, reading)
    if (result === undefined || value === undefined) return []
    return [{ seed, value, hasCollapsed: hasCollapsed(result, study, metric) }]
  })
}

function compare(
  own: readonly SeedValue[],
  against: readonly SeedValue[],
  { measure }: Study,
): Compared {
  const pairs = own.flatMap(({ seed, value }) => {
    const other = against.find((one) => one.seed === seed)
    return other ? [{ seed, difference: value - other.value }] : []
  })
  const differences = pairs.map(({ difference }) => difference)
  const isEnough = differences.length >= FEWEST_PAIRS
  return {
    pairs,
    mean: mean(differences),
    ...(isEnough && testsOf(differences, measure)),
    probability_of_improvement: probabilityOfImprovement(
      own.map(({ value }) => value),
      against.map(({ value }) => value),
    ),
  }
}

/** What differences by seed tell, where they are enough. */
function testsOf(differences: readonly number[], { test }: Study['measure']) {
  const p_t = tTest(differences)
  const p_permutation = signFlipTest(differences)
  return {
    t: tInterval(differences),
    bootstrap: bootstrapInterval(differences),
    p_t,
    p_sign: signTest(differences),
    p_permutation,
    p: test === 't' ? (p_t ?? 1) : p_permutation,
  }
}

/** Whether each difference is smaller than its measure's margin; undefined without one. */
function equalities(
  all: readonly { readonly found: Compared; readonly study: Study }[],
): readonly (Equality | undefined)[] {
  const tested = all.map(({ found: { pairs }, study: { measure } }) => {
    const differences = pairs.map(({ difference }) => difference)
    const { equal_within: margin } = measure
    const interval = tInterval(differences, 1 - 2 * ALPHA)
    if (margin === undefined || !interval || differences.length < FEWEST_PAIRS) return undefined
    return { margin, interval, p: equivalenceTest(differences, margin) ?? 1 }
  })
  const adjusted = holm(tested.flatMap((one) => one?.p ?? []))
  let next = 0
  return tested.map((one) => one && { ...one, p: adjusted[next++] })
}

function judged(found: Compared, p_holm: number, { measure }: Study): Comparison {
  if (found.p === undefined) return { ...found, verdict: 'too few' }
  const differences = found.pairs.map(({ difference }) => difference)
  const isBetter = found.mean > 0 === (measure.goal === 'higher')
  const isEqual = found.equality !== undefined && found.equality.p < ALPHA
  const undecided = isEqual ? 'equal' : 'none'
  const decided = p_holm < ALPHA ? (isBetter ? 'better' : 'worse') : undecided
  const deviation = Math.sqrt(variance(differences, { unbiased: true }))
  return {
    ...found,
    p_holm,
    verdict: decided,
    seeds_needed: seedsNeeded(found.mean, deviation),
  }
}

/** Seeds whose best arm is below half of the median over the seeds of their best arms. */
function lowSeeds(
  study: Study,
  arms: readonly Arm[],
  matched: ReadonlyMap<string, RunResult>,
  metric: string,
): number[] {
  if (study.measure.goal === 'lower') return []
  const bests = study.seeds.flatMap((seed) => {
    const values = arms.flatMap((arm) => {
      const run = matched.get(runKey(arm, seed))
      return run?.series[metric]?.at(-1)?.[1] ?? []
    })
    return values.length > 0 ? [{ seed, best: Math.max(...values) }] : []
  })
  const middle = bests.map(({ best }) => best).sort((a, b) => a - b)[Math.floor(bests.length / 2)]
  return bests.filter(({ best }) => best < middle / 2).map(({ seed }) => seed)
}

/** Numbers that agree so far are the same but for rounding. */
const SAME = 1e-6

function warningsOf(
  study: Study,
  arms: readonly Arm[],
  matched: ReadonlyMap<string, RunResult>,
  metric: string | undefined,
): string[] {
  const runs = [...matched.values()]
  const warnings: string[] = []
  const total = arms.length * study.seeds.length
  if (runs.length < total) warnings.push(`${total - runs.length} of ${total} runs are missing.`)
  if (runs.length > 0 && metric === undefined)
    warnings.push(`No run measured one metric that ends with ${study.measure.metric}.`)
  const adapters = [...new Set(runs.map(({ adapter }) => adapter))]
  if (adapters.length > 1)
    warnings.push(
      `The runs come from different adapters (${adapters.join('; ')}): differences between arms may be differences between machines.`,
    )
  const failed = runs.filter(({ status }) => status === 'failed')
  if (failed.length > 0)
    warnings.push(
      `${failed.length} runs broke and count with their last value: ${failed.map(({ arm, seed }) => `${arm}, seed ${seed}`).join('; ')}.`,
    )
  if (metric === undefined) return warnings
  const collapsed = runs.filter(
    (run) => run.status === 'finished' && hasCollapsed(run, study, metric),
  )
  if (collapsed.length > 0)
    warnings.push(
      `${collapsed.length} runs ended below half of where reinforcement began, and count: ${collapsed.map(({ arm, seed }) => `${arm}, seed ${seed}`).join('; ')}.`,
    )
  const low = lowSeeds(study, arms, matched, metric)
  if (low.length > 0)
    warnings.push(
      `Seed ${low.join(', ')} ended in every arm below half of what the others reached in the middle: such a warm start leaves little to learn from, and it counts.`,
    )
  const unlike = study.seeds.filter((seed) => {
    const begun = arms.flatMap((arm) => {
      const run = matched.get(runKey(arm, seed))
      const at = run?.series[metric]?.find(([step]) => step === run.begins)
      return at ? [at[1]] : []
    })
    return begun.some((value) => Math.abs(value - begun[0]) > SAME)
  })
  if (unlike.length > 0)
    warnings.push(
      `The warm starts of seed ${unlike.join(', ')} differ between arms, so their differences are not those of reinforcement alone.`,
    )
  return warnings
}
