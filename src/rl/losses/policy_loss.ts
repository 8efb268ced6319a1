// Declares a policy loss. Each is declared in one file of this folder; its kernel, its reference,
// its fields in forms, its formula and its clip in the token table are all made from that
// declaration (losses.ts lists them).

import type { LossAggMode } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import type {
  POLICY_LOSS_SUMS,
  PolicyLossCode,
} from '../../kernels/policy_loss/policy_loss_frame.ts'
import type { Elsewhere } from '../fields/field.ts'
import type { Formula } from '../math/formula.ts'
import type { ResponseTokens } from './response.ts'

/** A number of a loss: a field of an experiment, and an f32 param of the kernel under the same
 * name. */
export interface LossNumber {
  /** Where it lies in an experiment: in `actor` itself, or in verl's block `actor.policy_loss`. */
  readonly section: 'actor' | 'policy_loss'
  readonly label: string
  /** One sentence. */
  readonly help: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step?: number
  readonly scale?: 'linear' | 'log'
  readonly unit?: string
  /** What becomes of it in a job. Without it, as of the loss: a job with a loss that a system does
   * not have is refused. */
  readonly elsewhere?: Elsewhere
  /** The kernel does not read it; `choice.count` makes a number of tokens of it. */
  readonly isShare?: true
}

/** By their names in an experiment. Losses may share a number; then both hold the same object. */
export type LossNumbers = Readonly<Record<string, LossNumber>>

/** The values of a loss's numbers. */
export type ValuesOf<N> = { readonly [K in keyof N]: number }

/** 0: the gradient passes; 1: the clip of the ratio holds it; 2: dual clip does, or GMPO's clip of
 * a bad response. */
export type Clipped = 0 | 1 | 2

/** What a loss makes of one token, in float64, nats. */
export interface TokenLoss {
  /** Before weights and the mean; where `ownMean` is 'responses', that of the whole response. */
  readonly loss: number
  /** Its derivative by log_prob. Where the two sides of a max or min tie, the unclipped gradient
   * applies in full. */
  readonly slope: number
  /** What it adds to the mean `actor/ppo_kl`. */
  readonly kl: number
  /** What the clip does, as the token table shows it. Absent for losses without a clip. */
  readonly clipped?: Clipped
  /** Whether actor/pg_clipfrac counts it, where that is not `clipped` being 1. */
  readonly isLeftOut?: boolean
}

/** One token of a response, as the formula of a loss sees it. */
export interface LossInput<K = Values> {
  readonly row: ResponseTokens
  readonly t: number
  readonly k: K
  /** What the rule made of it. */
  readonly loss: number
}
type Values = Readonly<Record<string, number>>

/** Responses of a micro-batch, [B, R] each. */
export type LossBatch = Pick<
  ResponseTokens,
  'log_probs' | 'old_log_probs' | 'advantages' | 'response_mask'
>

/** How a loss chooses a few tokens over the whole micro-batch. */
export interface Choice<K = Values> {
  /** WGSL of a pass that only marks them: d_log_probs becomes 1 there, 0 elsewhere. */
  readonly main: string
  /** How many of `tokenCount` unmasked tokens. Throws RangeError for a share that is none. */
  count(k: K, tokenCount: number): number
  /** Their indices, in float64. */
  chosen(batch: LossBatch, k: K, seed: number): ReadonlySet<number>
}

/** A setting that contradicts others of the same loss. */
export interface Contradiction<Name> {
  readonly at: Name
  readonly with: readonly Name[]
  /** Continues "expected". */
  readonly expected: string
}

/** A policy loss. */
export interface PolicyLoss<Name extends string = string, N extends LossNumbers = LossNumbers> {
  /** verl's actor.policy_loss.loss_mode. */
  readonly name: Name
  /** What forms call it. */
  readonly label: string
  readonly numbers: N
  /** Of the metrics in POLICY_LOSS_SUMS, those that verl's function reports. */
  readonly metrics: readonly (typeof POLICY_LOSS_SUMS)[number][]
  /** How it is averaged whatever loss_agg_mode says of entropy and KL; 'responses': one loss each,
   * over all rows. */
  readonly ownMean?: LossAggMode | 'responses'
  /** It has the weights of rollout correction in its rule: 'any', or those of single tokens alone.
   * Absent = every token's loss is multiplied by its weight. */
  readonly holdsWeights?: 'any' | 'token'
  /** Whether its ratio can be that of the whole response (sequence_level.ts), and whether its
   * gradient goes through the ratio, or the ratio is held. Absent = it cannot. */
  readonly hasLevel?: 'through_ratio' | 'held_ratio'
  readonly code: PolicyLossCode
  readonly choice?: Choice<ValuesOf<N>>
  /** The float64 rule: of a response, then of one of its unmasked tokens. */
  rule(row: ResponseTokens, k: ValuesOf<N>): (t: number) => TokenLoss
  readonly formula: Formula<LossInput<ValuesOf<N>>>
  /** What is wrong with its numbers together, if anything. */
  contradiction?(k: ValuesOf<N>): Contradiction<keyof N & string> | undefined
}

/** Declares a loss and infers its names, so that settings, kernels and references are held to
 * them. */
export function policyLoss<const Name extends string, const N extends LossNumbers>(
  loss: PolicyLoss<Name, N>,
): PolicyLoss<Name, N> {
  return loss
}
