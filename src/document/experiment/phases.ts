// The phases of an experiment document: what a phase of each kind says, and the schema that holds it to that.
import * as z from 'zod/mini'
import type { Rollout } from '../../rl/config/phase.ts'
import { ACTOR, type ActorFields } from './fields/actor_fields.ts'
import { ALGORITHM, type AlgorithmFields } from './fields/algorithm_fields.ts'
import { CRITIC, type CriticFields } from './fields/critic_fields.ts'
import { filled, type Overrides, oneOf, partial, show } from './fields/field.ts'
import { MAX_LAYERS } from './fields/model_fields.ts'
import {
  REWARD_MODEL,
  type RewardModelFields,
  RL,
  type RlFields,
  SFT,
  type SftFields,
} from './fields/phase_fields.ts'
import { ROLLOUT } from './fields/rollout_fields.ts'

/** Every kind of phase. */
export const PHASE_KINDS = ['sft', 'reward_model', 'rl'] as const

/** A warm start: supervised learning from demonstrations. */
export interface SftDocument extends SftFields {
  readonly kind: 'sft'
}

/** A phase that trains a reward model on pairs of responses. */
export interface RewardModelDocument extends RewardModelFields {
  readonly kind: 'reward_model'
}

/** A phase of reinforcement learning. It takes from the experiment what it does not set itself. */
export interface RlDocument extends RlFields {
  readonly kind: 'rl'
  /** 1…L−1 = an inner layer's policy; 'final' = the model's own. */
  readonly target_layer: number | 'final'
  readonly rollout?: Overrides<Rollout> | undefined
  readonly actor?: Overrides<ActorFields> | undefined
  readonly critic?: Overrides<CriticFields> | undefined
  readonly algorithm?: Overrides<AlgorithmFields> | undefined
}

/** One phase of an experiment. */
export type PhaseDocument = SftDocument | RewardModelDocument | RlDocument

const target_layer = z._default(
  z.union([z.literal('final'), z.int().check(z.minimum(1), z.maximum(MAX_LAYERS))], {
    error: (issue) =>
      `expected 'final' or a whole number from 1 to the number of layers, got ${show(issue.input)}`,
  }),
  'final',
)

/** Parses one phase and fills in its defaults. */
export const phaseSchema = oneOf('kind', PHASE_KINDS, [
  filled(SFT, { kind: z.literal('sft') }),
  filled(REWARD_MODEL, { kind: z.literal('reward_model') }),
  filled(RL, {
    kind: z.literal('rl'),
    target_layer,
    rollout: z.optional(partial(ROLLOUT)),
    actor: z.optional(partial(ACTOR)),
    critic: z.optional(partial(CRITIC)),
    algorithm: z.optional(partial(ALGORITHM)),
  }),
])
