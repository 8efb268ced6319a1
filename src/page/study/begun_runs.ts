// Says how far the runs of a study are that have begun: those that are on, and those that paused
// with a kept state.
import { fingerprintOf } from '../../document/study/fingerprint.ts'
import type { PlannedRun } from '../../document/study/queue.ts'
import { plan, type StudyState } from './study_state.ts'
import { nameOf, type PresentRun, stepsOfRun } from './training/study_training.ts'

/** A run that is on, or that Train continues at its step. */
export interface BegunRun extends PresentRun {
  readonly isPaused?: boolean
}

type Of = Pick<StudyState, 'study' | 'arms' | 'results' | 'present' | 'is_training' | 'kept_steps'>

export function begunRuns(state: Of): readonly BegunRun[] {
  const { study, arms, results, is_training, kept_steps } = state
  const present = is_training ? state.present : []
  const missing = study && kept_steps.size > 0 ? plan(study, arms, results)?.runs : undefined
  const names = new Set(present.map(({ name }) => name))
  const paused = (missing ?? []).flatMap((run: PlannedRun): BegunRun[] => {
    const [name, step] = [nameOf(run), kept_steps.get(fingerprintOf(run.experiment))]
    if (step === undefined || names.has(name)) return []
    return [{ name, step, of: stepsOfRun(run), waits: false, isPaused: true }]
  })
  return [...present, ...paused]
}
