// Reads what a lesson's check needs of a run: its document and its metrics, as its record keeps
// them.

import type { TriedRun } from '../../../document/course/progress.ts'
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { encodeLink } from '../../../document/links/link.ts'
import { adapterName } from '../../../document/links/names.ts'
import type { LabState } from '../../../page/state/store.ts'
import { curvesHash, documentHash } from '../../../record/handed_in/curves_hash.ts'
import { mean } from '../../kit/mean.ts'
import type { Columns } from '../../scales/columns.ts'

export interface RunFacts {
  /** What the run trains. */
  readonly experiment: Experiment
  /** The same as the run began, and what was done to it since. */
  readonly document: Experiment
  readonly step: number
  /** Steps after which its phases began. */
  readonly switches: readonly { readonly step: number; readonly phase: number }[]
  readonly series: ReadonlyMap<string, Columns>
  /** Estimators of the steps that were traced token by token. */
  readonly traced: readonly string[]
  /** Verdicts that a person gave. */
  readonly verdicts: number
}

/** undefined where there is no run. */
export function runFacts(state: LabState): RunFacts | undefined {
  const { runExperiment, runDocument, step, phase_switches, series, trace, verdicts } = state
  if (!runExperiment) return undefined
  return {
    experiment: runExperiment,
    document: runDocument ?? runExperiment,
    step,
    switches: phase_switches,
    series,
    traced: trace ? [trace.table.phase.adv_estimator] : [],
    verdicts: Object.values(verdicts).join('').replace(/[^ab]/g, '').length,
  }
}

/** The present run as it is handed in; undefined where there is none. */
export function triedRun({
  runDocument,
  runExperiment,
  step,
  series,
  adapter,
}: LabState): TriedRun | undefined {
  const document = runDocument ?? runExperiment
  if (!document) return undefined
  const link = encodeLink(document)
  return {
    link,
    step,
    document: documentHash(link),
    curves: curvesHash(series, step),
    adapter: adapter ? adapterName(adapter).slice(0, 80) : 'an unknown adapter',
  }
}

/** Steps `first`…`last` of a phase that has begun, as far as the run is; undefined before it. */
function stepsOf(
  run: RunFacts,
  phase: number,
): { readonly first: number; readonly last: number } | undefined {
  const begun = run.switches.find((one) => one.phase === phase)
  if (!begun) return undefined
  const next = run.switches.find((one) => one.phase > phase && one.step >= begun.step)
  return { first: begun.step + 1, last: next?.step ?? run.step }
}

/** The values of a metric in a phase, in order; none where it was not measured there. */
export function valuesIn(run: RunFacts, metric: string, phase: number): readonly number[] {
  const steps = stepsOf(run, phase)
  const column = run.series.get(metric)
  if (!steps || !column) return []
  const values: number[] = []
  for (let i = 0; i < column.length; i++) {
    const inside = column.steps[i] >= steps.first && column.steps[i] <= steps.last
    if (inside && Number.isFinite(column.values[i])) values.push(column.values[i])
  }
  return values
}

/** Means of the first and of the last `width` values in a phase; undefined with fewer than twice as
 * many. */
export function endsOf(
  run: RunFacts,
  metric: string,
  phase: number,
  width = 5,
): { readonly before: number; readonly after: number } | undefined {
  const values = valuesIn(run, metric, phase)
  if (values.length < 2 * width) return undefined
  return { before: mean(values.slice(0, width)), after: mean(values.slice(-width)) }
}

type Phase = ReturnType<typeof resolvePhases>[number]

/** Index of the first phase that is meant; -1 without one. */
export const phaseWhere = (run: RunFacts, isMeant: (phase: Phase) => boolean): number =>
  resolvePhases(run.experiment).findIndex(isMeant)

/** The first phase of reinforcement that trains the whole model. */
export const wholePhase = (run: RunFacts): number =>
  phaseWhere(
    run,
    (phase) => phase.kind === 'rl' && phase.target_layer === run.experiment.model.num_hidden_layers,
  )

/** Why a check that speaks of the run's end has to wait; undefined once its steps are taken. */
export function notOver({ experiment, step }: RunFacts): ReturnType<typeof notYet> | undefined {
  const steps = resolvePhases(experiment).reduce((sum, phase) => sum + phase.steps, 0)
  return step < steps ? stillTraining(`The run has taken ${step} of ${steps} steps.`) : undefined
}

/** The answer of a check that has nothing to say but how far the run is. */
export const stillTraining = (says: string) => ({ ...notYet(says), isOnlySteps: true })

/** The answer of a check that waits for more steps. */
export const notYet = (says: string) => ({ is_done: false, says })
/** The answer of a check that is content. */
export const seen = (says: string) => ({ is_done: true, says })
