// Chooses the runs that come next. In a search settings that do well on some seeds go on, and the
// best meet on seeds that chose nothing, so that a lucky seed cannot win.
import { mean } from '../../rl/math/stats.ts'
import { matchResults, runKey } from './analysis.ts'
import type { Arm } from './arms.ts'
import { measureOf, metricOf, readingOf } from './measure.ts'
import { missingRuns, type PlannedRun } from './queue.ts'
import type { RunResult } from './results.ts'
import type { Study } from './study.ts'

/** What is to be trained now, and what the study compares as far as that is known. */
export interface Plan {
  readonly runs: readonly PlannedRun[]
  /** A few words for people. */
  readonly stage: string
  /** The arms and seeds whose comparison is the answer. */
  readonly compared: { readonly arms: readonly Arm[]; readonly study: Study }
}

/** Seeds that choose, and seeds that judge. */
function splitSeeds({ seeds, search }: Study): { choosing: number[]; judging: number[] } {
  const count = search?.choosing ?? Math.ceil(seeds.length / 2)
  return { choosing: seeds.slice(0, count), judging: seeds.slice(count) }
}

/** The runs that are missing at this point of a study. */
export function planStudy(study: Study, arms: readonly Arm[], results: readonly RunResult[]): Plan {
  if (!study.search)
    return { runs: missingRuns(study, arms, results), stage: 'all runs', compared: { arms, study } }
  const { choosing, judging } = splitSeeds(study)
  let left = arms
  const rounds = rungs(study, choosing)
  for (const [i, { seeds, keep }] of rounds.entries()) {
    const rung = { ...study, seeds }
    const runs = missingRuns(rung, left, results)
    const stage = `choosing, round ${i + 1}: ${left.length} settings × ${seeds.length} seeds`
    if (runs.length > 0) return { runs, stage, compared: { arms: left, study: rung } }
    const finalists = new Map(study.arms.map((arm) => [arm.name, arm.finalists]))
    const isLast = i === rounds.length - 1
    left = best(rung, left, results, (group) => (isLast ? finalists.get(group) : undefined) ?? keep)
  }
  const finals = { ...study, seeds: judging }
  return {
    runs: missingRuns(finals, left, results),
    stage: `judging: ${left.length} settings × ${judging.length} new seeds, which took no part in choosing`,
    compared: { arms: left, study: finals },
  }
}

/** Runs of a whole study; of a search those of all its rounds, in which a setting keeps the runs of
 * the rounds before. */
export function plannedCount(study: Study, arms: readonly Arm[]): number {
  if (!study.search) return arms.length * study.seeds.length
  const { choosing, judging } = splitSeeds(study)
  const rounds = rungs(study, choosing)
  const groups = [...new Set(arms.map(({ group }) => group))]
  return groups.reduce((sum, name) => {
    const own = study.arms.find((arm) => arm.name === name)?.finalists
    let left = arms.filter(({ group }) => group === name).length
    let [before, runs] = [0, 0]
    for (const [i, { seeds, keep }] of rounds.entries()) {
      runs += left * (seeds.length - before)
      before = seeds.length
      left = Math.min(left, i === rounds.length - 1 ? (own ?? keep) : keep)
    }
    return sum + runs + left * judging.length
  }, 0)
}

/** Rounds of a search: the seeds of each, and how many settings of a group go on from it. */
function rungs({ search }: Study, choosing: readonly number[]) {
  if (!search) return []
  const { kind, arms, eta, finalists } = search
  if (kind === 'random') return [{ seeds: [...choosing], keep: finalists }]
  const rounds = Math.max(1, Math.ceil(Math.log(arms / finalists) / Math.log(eta)))
  return Array.from({ length: rounds }, (_, i) => ({
    seeds: choosing.slice(0, Math.max(1, Math.ceil(choosing.length / eta ** (rounds - 1 - i)))),
    keep: i === rounds - 1 ? finalists : Math.max(finalists, Math.ceil(arms / eta ** (i + 1))),
  }))
}

/** The best arms of every group by their mean, `keepOf` it; those whose runs measured nothing come
 * last. */
function best(
  study: Study,
  arms: readonly Arm[],
  results: readonly RunResult[],
  keepOf: (group: string) => number,
): Arm[] {
  const matched = matchResults(arms, study.seeds, results)
  const runs = [...matched.values()]
  const metric = metricOf(runs, study.measure.metric)
  const reading = readingOf(runs, study)
  const sign = study.measure.goal === 'higher' ? 1 : -1
  const scoreOf = (arm: Arm): number => {
    const values = study.seeds.flatMap((seed) => {
      const run = matched.get(runKey(arm, seed))
      const value = run && metric ? measureOf(run, study, metric, reading) : undefined
      return value === undefined ? [] : [sign * value]
    })
    return values.length > 0 ? mean(values) : Number.NEGATIVE_INFINITY
  }
  const groups = [...new Set(arms.map(({ group }) => group))]
  return groups.flatMap((group) =>
    arms
      .filter((arm) => arm.group === group)
      .map((arm) => ({ arm, score: scoreOf(arm) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, keepOf(group))
      .map(({ arm }) => arm),
  )
}
