// Types the phases of an experiment with every default filled in.

import type { Readout } from '../../model/layout/readout.ts'
import type { AdvEstimator } from '../estimators/advantages.ts'
import type { PreferenceSettings } from '../preferences/settings.ts'
import type { Actor } from './actor.ts'
import type { Algorithm } from './algorithm.ts'
import type { Critic } from './critic.ts'
import { type Distillation, teachesAs } from './distillation.ts'
import type { Optim } from './optim.ts'
import type { Rollout } from './rollout.ts'
import type { TrainedFields } from './trained_fields.ts'
import type { TrainedPart } from './trained_segments.ts'

/** What ends a phase before its steps are over (stop.ts); null = off. */
export interface Stop {
  /** Held-out greedy accuracy of at least this. */
  readonly accuracy: number | null
  /** Mean score of a step's responses of at least this. */
  readonly score: number | null
  /** Steps whose mean score is compared with that of as many before them. */
  readonly plateau_steps: number | null
  /** The gain between the two that counts as none. */
  readonly plateau_delta: number
  /** Entropy of the trained policy below this, nats. */
  readonly entropy_floor: number | null
}

export const STOP_DEFAULTS: Stop = {
  accuracy: null,
  score: null,
  plateau_steps: null,
  plateau_delta: 0.01,
  entropy_floor: null,
}

/** Whether any condition is on. Such a phase waits for the numbers of every step before it queues
 * the next. */
export const hasStop = (stop: Stop | undefined): stop is Stop =>
  stop !== undefined &&
  [stop.accuracy, stop.score, stop.plateau_steps, stop.entropy_floor].some((at) => at !== null)

export type StopReason = 'accuracy' | 'score' | 'plateau' | 'entropy_floor'

/** Why a phase began: the run did, or what ended the one before it. */
export const PHASE_REASONS = [
  'start',
  'steps',
  'next_phase',
  'insert_phase',
  'accuracy',
  'score',
  'plateau',
  'entropy_floor',
] as const satisfies readonly ('start' | 'steps' | 'next_phase' | 'insert_phase' | StopReason)[]
export type PhaseReason = (typeof PHASE_REASONS)[number]

/** Supervised warm start on the task's demonstrations: mean cross-entropy over answer and end
 * token. */
export interface SftPhase {
  readonly kind: 'sft'
  readonly name: string
  readonly steps: number
  /** Demonstrations per step. */
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
  readonly stop?: Stop
}

/** What a person said of the pair of responses that was next in line: which one is better, or
 * nothing (skip); undo takes back what was said last. */
export interface Verdict {
  readonly choice: 'a' | 'b' | 'skip' | 'undo'
  /** Steps of the phase that were taken before it was given. */
  readonly step: number
}

/** Where the pairs of a phase come from. */
export interface Pairs {
  /** The task's own score; a person; the task at once and a person as the verdicts come; or the
   * file of rows, which has them already. */
  readonly source: 'judge' | 'human' | 'mixed' | 'file'
  /** Pairs to train on at most, of each source. */
  readonly count: number
  /** Further pairs that accuracy is measured on, with prompts of their own. Of a person's prompts
   * every fourth is held out. */
  readonly held_out: number
  /** Responses to a prompt, of which the best and the worst make the pair; absent: 2. */
  readonly n?: number | undefined
  /** What the policy samples them with. */
  readonly temperature: number
  /** Share of the judge's verdicts on training pairs that are turned round; absent: none. */
  readonly noise?: number | undefined
  /** A person's verdicts that training waits for; source human alone. */
  readonly min_pairs: number
  /** The verdicts of a person in an earlier run, in order; if there are any, the person is not
   * asked again. */
  readonly verdicts: readonly Verdict[]
}

/** Training of a reward model, which begins as a copy of the policy's transformer under a new
 * score. */
export interface RewardModelPhase {
  readonly kind: 'reward_model'
  readonly name: string
  readonly steps: number
  /** Pairs per step. */
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
  readonly pairs: Pairs
}

/** Training of one layer's policy on pairs of responses, without a reward model. */
export interface PreferencePhase {
  readonly kind: 'preference'
  readonly name: string
  readonly steps: number
  /** Pairs per step. */
  readonly batch_size: number
  /** As in a phase of kind rl. */
  readonly target_layer: number
  readonly target_readout?: Readout | undefined
  readonly grad_clip: number
  readonly optim: Optim
  readonly pairs: Pairs
  /** The policy makes new pairs after every so many steps (online preferences); absent or null:
   * only where the phase begins. Source judge alone. */
  readonly refresh_steps?: number | null
  /** Whether the reward model of an earlier phase judges pairs in place of the task; absent: not.
   * Sources judge and mixed. */
  readonly reward_model?: RlPhase['reward_model']
  readonly preference: PreferenceSettings
  readonly stop?: Stop
}

/** Training of one layer's policy, or of several together, on what a teacher says of every
 * token. */
export interface DistillPhase {
  readonly kind: 'distill'
  readonly name: string
  readonly steps: number
  /** Responses per step. */
  readonly batch_size: number
  /** As in a phase of kind rl. */
  readonly target_layer: number
  readonly target_readout?: Readout | undefined
  /** Layers below it that are taught along, read in the same way. */
  readonly layers: readonly number[]
  readonly grad_clip: number
  readonly optim: Optim
  readonly distillation: Distillation
  readonly stop?: Stop
}

/** Phases that are taught by pairs, drawn where they begin. */
export type PairedPhase = RewardModelPhase | PreferencePhase

/** Reinforcement learning of one layer's policy; the last layer's is the model's own. */
export interface RlPhase extends TrainedPart, Partial<Omit<TrainedFields, keyof TrainedPart>> {
  readonly kind: 'rl'
  readonly name: string
  readonly steps: number
  readonly adv_estimator: AdvEstimator
  /** Blocks applied before the unembedding, 1…L; L is the final policy (with the final norm). */
  readonly target_layer: number
  readonly rollout: Rollout
  readonly actor: Actor
  /** Used by estimators that need values (gae). */
  readonly critic: Critic
  readonly algorithm: Algorithm
  /** Whether responses are scored by the reward model of an earlier phase instead of by the task;
   * verl's reward_model.enable. */
  readonly reward_model: { readonly enable: boolean }
  readonly stop?: Stop
}

/** Phases that train the policy. */
export type ActorPhase = SftPhase | PreferencePhase | DistillPhase | RlPhase
export type Phase = ActorPhase | RewardModelPhase

export const isPaired = (phase: Phase): phase is PairedPhase =>
  phase.kind === 'reward_model' || phase.kind === 'preference'

/** How a phase trains its policy, or its reward model. */
export const optimOf = (phase: Phase): Optim =>
  phase.kind === 'rl' ? phase.actor.optim : phase.optim

/** Whether a phase compares the policy with a copy of it that was taken where its stage began. */
export const keepsReference = (phase: Phase): boolean =>
  phase.kind === 'rl' ||
  phase.kind === 'preference' ||
  (phase.kind === 'distill' && teachesAs(phase.distillation.teacher) === 'reference')

export const trainsActor = (phase: Phase): phase is ActorPhase => phase.kind !== 'reward_model'
