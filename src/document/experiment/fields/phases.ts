// Declares the phases of an experiment document: what a phase of each kind says, and the schema
// that holds it to that.
import * as z from 'zod/mini'
import { ACTOR, type Actor } from '../../../rl/config/actor.ts'
import { ALGORITHM, type AlgorithmFields } from '../../../rl/config/algorithm.ts'
import { CRITIC, type Critic } from '../../../rl/config/critic.ts'
import type { Rollout } from '../../../rl/config/rollout.ts'
import { ROLLOUT } from '../../../rl/config/rollout.ts'
import { expected, filled, type Overrides, oneOf, partial } from '../../../rl/fields/field.ts'
import { preferenceLossOf } from '../../../rl/preferences/losses.ts'
import { MAX_LAYERS } from './model_fields.ts'
import {
  DISTILL,
  type DistillFields,
  PREFERENCE,
  type PreferenceFields,
  REWARD_MODEL,
  type RewardModelFields,
  RL,
  type RlFields,
  SFT,
  type SftFields,
} from './phase_fields.ts'
import type { TaskChoice } from './task_fields.ts'

/** Every kind of phase. */
export const PHASE_KINDS = ['sft', 'reward_model', 'preference', 'distill', 'rl'] as const

/** A warm start: supervised learning from demonstrations. */
export interface SftDocument extends SftFields {
  readonly kind: 'sft'
}

/** A phase that trains a reward model on pairs of responses. */
export interface RewardModelDocument extends RewardModelFields {
  readonly kind: 'reward_model'
}

/** Whose policy a phase trains: 1…L−1 = the one that an inner layer holds; 'final' = the model's
 * own. */
type TargetLayer = number | 'final'

/** A phase that trains the policy on pairs of responses, without a reward model. */
export interface PreferenceDocument extends PreferenceFields {
  readonly kind: 'preference'
  readonly target_layer: TargetLayer
}

/** A phase that trains the policy on what a teacher says of every token. */
export interface DistillDocument extends DistillFields {
  readonly kind: 'distill'
  readonly target_layer: TargetLayer
}

/** A phase of reinforcement learning. It takes from the experiment what it does not set itself. */
export interface RlDocument extends RlFields {
  readonly kind: 'rl'
  readonly target_layer: TargetLayer
  readonly rollout?: Overrides<Rollout> | undefined
  readonly actor?: Overrides<Actor> | undefined
  readonly critic?: Overrides<Critic> | undefined
  readonly algorithm?: Overrides<AlgorithmFields> | undefined
}

/** One phase of an experiment. */
export type PhaseDocument =
  | SftDocument
  | RewardModelDocument
  | PreferenceDocument
  | DistillDocument
  | RlDocument

/** A phase that is taught by pairs. */
export type PairedDocument = RewardModelDocument | PreferenceDocument

export const isPairedDocument = (phase: PhaseDocument): phase is PairedDocument =>
  phase.kind === 'reward_model' || phase.kind === 'preference'

/** Whether a phase imitates answers, before others learn what is better. */
export const isWarmStart = ({ kind }: Pick<PhaseDocument, 'kind'>): boolean => kind === 'sft'

/** Whether a phase learns from single verdicts, where the rows of the task are such. */
export const takesVerdicts = (task: TaskChoice, phase: PairedDocument): boolean =>
  phase.kind === 'preference' &&
  task.row_format === 'verdicts' &&
  preferenceLossOf(phase.preference.loss_type).data === 'answers'

/** A phase that goes through the training set in batches. */
export type BatchedDocument = Exclude<PhaseDocument, PairedDocument>

/** The inner layer whose policy a phase trains; undefined where it trains the whole model's, or a
 * reward model. */
export const innerTarget = (phase: PhaseDocument): number | undefined =>
  'target_layer' in phase && phase.target_layer !== 'final' ? phase.target_layer : undefined

const target_layer = z._default(
  z.union([z.literal('final'), z.int().check(z.minimum(1), z.maximum(MAX_LAYERS))], {
    error: expected("'final' or a whole number from 1 to the number of layers"),
  }),
  'final',
)

/** Parses one phase and fills in its defaults. */
export const phaseSchema = oneOf('kind', PHASE_KINDS, [
  filled(SFT, { kind: z.literal('sft') }),
  filled(REWARD_MODEL, { kind: z.literal('reward_model') }),
  filled(PREFERENCE, { kind: z.literal('preference'), target_layer }),
  filled(DISTILL, { kind: z.literal('distill'), target_layer }),
  filled(RL, {
    kind: z.literal('rl'),
    target_layer,
    rollout: z.optional(partial(ROLLOUT)),
    actor: z.optional(partial(ACTOR)),
    critic: z.optional(partial(CRITIC)),
    algorithm: z.optional(partial(ALGORITHM)),
  }),
])
