// Chooses the one number that a run is told by: on its picture, on top of the page, in its first
// chart and among runs.
import { askedAspect } from '../../../document/experiment/asked.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { LabState } from '../../../page/state/store.ts'
import { greedyAccuracy, heldOutPart } from '../metrics.ts'
import { shownExperiment } from '../run.ts'

export interface MainMeasure {
  readonly metric: string
  /** What it is the share of, where a reward asks for that alone; undefined: right answers, decoded
   * greedily. */
  readonly asked: { readonly id: string; readonly label: string } | undefined
}

/** Of problems that are never trained on: what the reward asks of a text, in sampled answers; else
 * the share of right answers. */
export function mainMeasure(told: Pick<Experiment, 'task' | 'reward' | 'validation'>): MainMeasure {
  const { task, validation } = told
  const asked = validation.n > 0 ? askedAspect(told) : undefined
  const metric = asked ? heldOutPart(task.id, asked.id, validation.n) : greedyAccuracy(task.id)
  return { metric, asked }
}

/** 'happy end', within a sentence. */
export const askedWords = ({ label }: { readonly label: string }): string => label.toLowerCase()

/** What a task poses. */
export const posedWords = ({ id }: Pick<Experiment['task'], 'id'>): 'stories' | 'problems' =>
  id === 'story' ? 'stories' : 'problems'

export const selectTask = (state: LabState): Experiment['task'] => shownExperiment(state).task
