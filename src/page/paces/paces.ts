// Estimates how long an experiment takes on this machine, by the steps of earlier runs with the
// same settings on the same adapter. Pure.

import { stepWork, validationWork } from '../../document/experiment/costs/step_work.ts'
import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import {
  type MeasuredPhase,
  measuredPhases,
  type Pace,
  timeLeft,
} from '../../record/run/time_left.ts'
import type { LabState } from '../state/store.ts'

/** What is remembered of one run. */
export interface RunPaces {
  readonly adapter: string
  /** What a step costs hangs on, but for the phases: the settings as text. */
  readonly settings: string
  readonly phases: readonly MeasuredPhase[]
}

/** Runs of other settings that are remembered, newest last. */
const MAX_RUNS = 16

/** Fewer steps than this say nothing: two of them may arrive together. */
const LEAST_STEPS = 3
/** So many, or half of its phase, say more than what was known before: a run that was continued
 * near its end has timed its last few steps alone. */
const ENOUGH_STEPS = 8

/** What a step costs does not hang on the name, the seed, how often it is evaluated, or what was
 * done by hand. */
function settingsOf(experiment: Experiment): string {
  const { name: _, seed: __, phases: ___, steering: ____, validation, ...rest } = experiment
  return JSON.stringify({ ...rest, validation: { ...validation, test_freq: null } })
}

/** What costs little or nothing: other kernels (a study pins them) and learning rates. Such a run
 * says more of another one than a probe does. */
const OF_LITTLE_COST = /"kernels":(null|"[^"]*"),?|"lr":[^,}]*/g
const nearly = (settings: string): string => settings.replaceAll(OF_LITTLE_COST, '')

/** At most so many times the work of a step is that of a validation, whatever the adapter is fast
 * at. */
function mostSteps(experiment: Experiment, document: PhaseDocument): number {
  const [one, step] = [validationWork(experiment), stepWork(experiment, document)]
  return Math.max(
    one.arithmetic / step.arithmetic,
    one.dispatches / step.dispatches,
    one.rounds / step.rounds,
  )
}

/** A pace without what compiling in the first validation took, which no other one takes again.
 * `known`: what a validation took before. */
function withoutCompiling(pace: Pace, most: number, known = Number.POSITIVE_INFINITY): Pace {
  const { step_ms, validation_ms, isOfFirst } = pace
  return isOfFirst && validation_ms !== undefined
    ? { step_ms, validation_ms: Math.min(validation_ms, known, most * step_ms) }
    : pace
}

/** The speeds of a run, with those that were known; the same list where the run has none. */
export function withRun(
  known: readonly RunPaces[],
  adapter: string,
  { runExperiment, gaps }: Pick<LabState, 'runExperiment' | 'gaps'>,
): readonly RunPaces[] {
  const measured = runExperiment ? measuredPhases(runExperiment.phases, gaps) : []
  if (!runExperiment || measured.length === 0) return known
  const settings = settingsOf(runExperiment)
  const isSame = (run: RunPaces) => run.adapter === adapter && run.settings === settings
  const before = known.filter(isSame).flatMap(({ phases }) => phases)
  const fresh = measured.flatMap(({ kind, cost, pace, phase = 0 }) => {
    const document = runExperiment.phases[phase]
    const earlier = before.find((own) => own.cost === cost)
    const least = earlier ? Math.min(ENOUGH_STEPS, document.steps / 2) : LEAST_STEPS
    if (gaps[phase].length < Math.max(LEAST_STEPS, least)) return []
    const most = mostSteps(runExperiment, document)
    return [{ kind, cost, pace: withoutCompiling(pace, most, earlier?.pace.validation_ms) }]
  })
  if (fresh.length === 0) return known
  const costs = fresh.map(({ cost }) => cost)
  const phases = [...before.filter(({ cost }) => !costs.includes(cost)), ...fresh]
  const others = known.filter((run) => !isSame(run))
  return [...others, { adapter, settings, phases }].slice(-MAX_RUNS)
}

/** Seconds of the steps of an experiment after `step`; undefined where some of them have no like
 * among earlier runs. */
export function estimateOf(
  known: readonly RunPaces[],
  adapter: string,
  experiment: Experiment,
  step = 0,
): number | undefined {
  const settings = settingsOf(experiment)
  const own = known.filter((one) => one.adapter === adapter)
  const run =
    own.findLast((one) => one.settings === settings) ??
    own.findLast((one) => nearly(one.settings) === nearly(settings))
  if (!run) return undefined
  const { seconds, untimedSteps } = timeLeft({
    toCome: plannedStretches(experiment, experiment.steering),
    step,
    measured: run.phases,
    test_freq: experiment.validation.test_freq,
  })
  return untimedSteps > 0 ? undefined : seconds
}
