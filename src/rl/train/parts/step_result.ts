// Describes the result of a step.

import type { PhaseReason } from '../../config/phase.ts'
import type { RewardParts, Spoken } from '../../experience/drawn_batch.ts'
import type { Observation } from '../../look/observation.ts'
import type { TokenTable } from '../../look/token_table.ts'
import type { NonFinite } from '../../metrics/nonfinite.ts'
import type { ScoredPair } from '../../reward/scored_pairs.ts'

/** One response of a step, as text. */
export interface StepSample extends RewardParts {
  readonly prompt: string
  /** Without the end token. */
  readonly response: string
  /** The same in its parts, where a tool answered in between. */
  readonly turns?: readonly Spoken[]
  /** Why a program among the tools did not answer. */
  readonly tool_problem?: string
  readonly ground_truth: string
  /** The task's score, or that of the experiment's reward. */
  readonly score: number
  /** The reward model's score, where that is trained on. */
  readonly rm_score?: number
  /** Mean over the response's tokens; group estimators give all of them the same. */
  readonly advantage: number
  /** Tokens, end token included. */
  readonly response_length: number
  /** False when the response was cut at the maximum length. */
  readonly is_ended: boolean
}

/** One answer to a held-out problem, under the names of verl's validation_data_dir
 * (RayPPOTrainer._dump_generations). */
export interface Generation {
  readonly input: string
  /** Without the end token. */
  readonly output: string
  /** The right answer. */
  readonly gts: string
  readonly score: number
  /** False for the likeliest tokens alone; undefined where a log of another trainer does not
   * say. */
  readonly do_sample?: boolean
  /** False when it was cut at the maximum length; undefined where a log does not say. */
  readonly is_ended?: boolean
}

export interface StepResult {
  /** 0 = before training. */
  readonly step: number
  readonly phase: number
  /** Steps done in this phase, this one included. */
  readonly phase_step: number
  readonly metrics: Record<string, number>
  /** All rows of a reinforcement step; none of a supervised one. */
  readonly samples: readonly StepSample[]
  /** What was answered to held-out problems, where the step was evaluated and `log_val_generations`
   * asks for it. */
  readonly generations?: readonly Generation[]
  /** Held-out pairs with the reward model's scores, when they were measured. */
  readonly scored_pairs?: readonly ScoredPair[]
  /** What it computed of every token, where that was asked for (Trainer.traceNext). */
  readonly trace?: TokenTable
  /** What the inside looked like after it, where that was asked for (Trainer.observe). */
  readonly observation?: Observation
  /** The step was looked at because of what it is (look/moments.ts): the observation shows all that
   * moments show. */
  readonly isMoment?: true
  /** Why an update of this step was left out, where one was. */
  readonly nonFinite?: NonFinite
  /** Set on the first step of a phase, unless takePhaseStart reported it before. */
  readonly phase_started?: PhaseStart
}

export interface PhaseStart {
  readonly phase: number
  readonly reason: PhaseReason
}

/** A step whose work is queued on the GPU; its numbers follow. */
export interface PendingStep {
  readonly result: Promise<StepResult>
}
