// Chooses the one number that a run is told by: on its picture, on top of the page, in its first
// chart and among runs.
import { askedAspect } from '../../../document/experiment/asked.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { LabState } from '../../../page/state/store.ts'
import { greedyAccuracy, heldOutPart, heldOutReward } from '../metrics.ts'
import { shownExperiment } from '../run.ts'

export interface MainMeasure {
  readonly metric: string
  /** What it is the share of, where a reward asks for that alone; undefined: right answers, decoded
   * greedily. */
  readonly asked: { readonly id: string; readonly label: string } | undefined
  /** It is the reward itself: what several parts ask for is one number only there. */
  readonly isReward: boolean
}

/** Of problems that are never trained on: what the reward asks of a text, in sampled answers; the
 * reward, where it is composed of something else; else the share of right answers. */
export function mainMeasure(told: Pick<Experiment, 'task' | 'reward' | 'validation'>): MainMeasure {
  const { id } = told.task
  const { n } = told.validation
  const asked = n > 0 ? askedAspect(told) : undefined
  if (asked) return { metric: heldOutPart(id, asked.id, n), asked, isReward: false }
  const isReward = n > 0 && told.reward.parts.some(({ weight }) => weight !== 0)
  return { metric: isReward ? heldOutReward(id, n) : greedyAccuracy(id), asked, isReward }
}

/** The metric of the same. */
export const mainMetric = (told: Experiment): string => mainMeasure(told).metric

/** 'happy end', within a sentence. */
export const askedWords = ({ label }: { readonly label: string }): string => label.toLowerCase()

/** The same, or 'reward', where a run is told by one of them; undefined: by its accuracy. */
export const toldWords = ({ asked, isReward }: MainMeasure): string | undefined =>
  asked ? askedWords(asked) : isReward ? 'reward' : undefined

/** What a task poses. */
export const posedWords = ({ id }: Pick<Experiment['task'], 'id'>): 'stories' | 'problems' =>
  id === 'story' ? 'stories' : 'problems'

export const selectTask = (state: LabState): Experiment['task'] => shownExperiment(state).task
