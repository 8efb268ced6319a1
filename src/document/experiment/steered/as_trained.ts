// Turns what a run did into a plan. Settings that leave a run leave its steering behind; its phases
// stay as long as they were.
import { parseExperiment } from '../experiment.ts'
import { isPairedDocument, type PhaseDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import { isEnding, type RunSoFar } from './planned.ts'

/** Why a phase began whose predecessor a person has ended. */
const BY_HAND: readonly string[] = ['next_phase', 'insert_phase']

type Run = Omit<RunSoFar, 'steering'>

/** Steps that phases have taken which a person has ended, by index. */
function endedByHand(run: Run): ReadonlyMap<number, number> {
  const { phase_switches, phase, phase_step } = run
  const ended = new Map<number, number>()
  for (const [i, { step, phase, reason }] of phase_switches.entries())
    if (BY_HAND.includes(reason)) ended.set(phase - 1, step - (phase_switches[i - 1]?.step ?? 0))
  if (isEnding(run)) ended.set(phase, phase_step)
  return ended
}

/** Phases in the place of those of the run, each as long as it was where a person has ended it;
 * undefined for one that was skipped. A phase of another length than the run planned was edited and
 * stays. Those that a condition has ended keep their lengths too: the condition is part of the
 * plan. */
export function trainedPhases(
  phases: readonly PhaseDocument[],
  run: Run,
): readonly (PhaseDocument | undefined)[] {
  const ended = endedByHand(run)
  return phases.map((phase, i) => {
    const steps = ended.get(i)
    const own = run.experiment.phases[i]
    if (steps === undefined || steps >= phase.steps) return phase
    if (own?.kind !== phase.kind || own.steps !== phase.steps) return phase
    if (steps === 0) return undefined
    return isPairedDocument(phase) ? { ...phase, steps } : { ...phase, steps, epochs: null }
  })
}

/** Settings that were those of a run, without its steering; the same object where no phase was
 * ended by hand. */
export function asTrained(experiment: Experiment, run: Run): Experiment {
  const isOfRun = experiment.name === run.experiment.name
  if (!isOfRun || experiment.phases.length !== run.experiment.phases.length) return experiment
  const trained = trainedPhases(experiment.phases, run)
  if (trained.every((phase, i) => phase === experiment.phases[i])) return experiment
  const phases = trained.filter((phase) => phase !== undefined)
  const parsed = parseExperiment({ ...experiment, phases, steering: [] })
  return parsed.ok ? parsed.experiment : experiment
}
