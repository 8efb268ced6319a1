// Keeps held-out pairs as a step reports them, with what was learned of both responses.
import type { Preference } from './preferences.ts'

/** A pair and what the reward model gives both responses. */
export interface ScoredPair {
  readonly prompt: string
  readonly chosen: string
  readonly rejected: string
  readonly chosen_score: number
  readonly rejected_score: number
  /** The task's own; undefined in recordings of earlier versions. */
  readonly chosen_task_score?: number | undefined
  readonly rejected_task_score?: number | undefined
}

/** Pairs of a step that are reported with their scores. */
export const SHOWN_PAIRS = 12

export const scoredPair = (
  { prompt, chosen, rejected }: Preference,
  scores: { readonly chosen: number; readonly rejected: number },
): ScoredPair => ({
  prompt,
  chosen: chosen.text,
  rejected: rejected.text,
  chosen_score: scores.chosen,
  rejected_score: scores.rejected,
  chosen_task_score: chosen.score,
  rejected_task_score: rejected.score,
})
