// Finds problems of the updates themselves: clipping, KL, entropy, critic. Each threshold has
// measured runs beside it.
import { aggregationOf } from '../../kernels/policy_loss/aggregations/aggregations.ts'
import { asksCritic } from '../../rl/estimators/advantages.ts'
import {
  type DiagnosisRule,
  type PhaseEvidence,
  percent,
  SOLVED,
  short,
  WINDOW,
} from './evidence.ts'

/** Healthy runs of the presets clip at most 3 % of their tokens. */
export const CLIPPED = 0.2
const MOSTLY_CLIPPED = 0.5
/** KL to the reference, nats per token. */
const FAR = 1
const VERY_FAR = 3
/** KL within one step, nats per token. Healthy runs stay below 0.01. */
const RUNAWAY = 0.1
/** As a share of ln V. */
const FLAT_ENTROPY = 0.02
/** A healthy critic of the presets explains 4 % of the returns' variance after 30 steps and 7 %
 * after 40. */
const CRITIC_STEPS = 40
const EXPLAINED = 0.03

export const clip_fraction: DiagnosisRule = (of) => {
  const metric = 'actor/pg_clipfrac'
  const share = of.recent(metric)
  if (share === undefined || share <= CLIPPED) return undefined
  const isMost = share > MOSTLY_CLIPPED
  return {
    is_severe: isMost,
    excess: (share - CLIPPED) / CLIPPED,
    title: isMost ? 'Most of the update is clipped' : 'Much of the update is clipped',
    evidence: `${percent(share)} of the tokens of the last ${WINDOW} steps had their ratio clipped; healthy runs of the presets stay below 3 %.`,
    meaning:
      'The policy moves so far within one step that its own samples no longer describe it. What is clipped has no gradient.',
    advice: [
      of.advice('actor.optim.lr', 'Lower the learning rate by three to ten times.'),
      of.phase.actor.ppo_epochs > 1
        ? of.advice('actor.ppo_epochs', 'Go over each batch fewer times.')
        : of.advice(
            'actor.ppo_mini_batch_size',
            'Larger mini-batches: fewer updates from one batch.',
          ),
    ],
    step: of.stepOf(metric),
  }
}

/** From the policy that reinforcement began with, where that is measured; else within one step. */
export const kl_runaway: DiagnosisRule = (of) => fromReference(of) ?? withinStep(of)

const fromReference: DiagnosisRule = (of) => {
  const { use_kl_loss } = of.phase.actor
  const metric = use_kl_loss ? 'actor/kl_loss' : 'actor/reward_kl_penalty'
  if (of.count(metric) < WINDOW) return undefined
  const unit = use_kl_loss ? klLossUnit(of) : 1
  const now = (of.recent(metric) ?? 0) / unit
  const first = (of.early(metric) ?? 0) / unit
  if (now <= FAR) return undefined
  return {
    is_severe: now > VERY_FAR,
    excess: (now - FAR) / FAR,
    title: 'The policy leaves the reference behind',
    evidence: `The KL to the policy that reinforcement began with is ${short(now)} nats per token over the last ${WINDOW} steps (${metric}); over the first ${WINDOW} it was ${short(first)}.`,
    meaning:
      'Nothing holds the policy near the reference: it may find responses that score well and are nothing like what it learned from, or fall apart.',
    advice: [
      use_kl_loss
        ? of.advice('actor.kl_loss_coef', 'Raise the weight of the KL in the loss.')
        : of.advice('algorithm.kl_ctrl.kl_coef', 'Raise the weight of the KL in the reward.'),
      of.advice('actor.optim.lr', 'Lower the learning rate.'),
    ],
    step: of.stepOf(metric),
  }
}

/** What 1 nat per token adds to actor/kl_loss: it is a sum over a step's updates, averaged as the
 * loss is. */
function klLossUnit(of: PhaseEvidence): number {
  const { actor, rollout } = of.phase
  const updates = (rollout.train_batch_size / actor.ppo_mini_batch_size) * actor.ppo_epochs
  const length = of.recent('response_length/mean') ?? 1
  const scale = actor.loss_scale_factor ?? rollout.max_response_length
  if (actor.loss_agg_mode === 'seq-mean-token-sum') return updates * length
  if (aggregationOf(actor.loss_agg_mode).usesScaleFactor) return (updates * length) / scale
  return updates
}

const withinStep: DiagnosisRule = (of) => {
  const metric = 'actor/ppo_kl'
  const kl = of.recent(metric)
  if (kl === undefined || Math.abs(kl) <= RUNAWAY) return undefined
  return {
    is_severe: Math.abs(kl) > 5 * RUNAWAY,
    excess: (Math.abs(kl) - RUNAWAY) / RUNAWAY,
    title: 'The policy runs away within one step',
    evidence: `actor/ppo_kl is ${short(kl)} nats per token over the last ${WINDOW} steps; healthy runs of the presets stay below 0.01.`,
    meaning:
      'Between sampling and the end of its update the policy changes too much for the objective to hold.',
    advice: [
      of.advice('actor.optim.lr', 'Lower the learning rate.'),
      of.phase.actor.ppo_epochs > 1
        ? of.advice('actor.ppo_epochs', 'Go over each batch fewer times.')
        : of.advice(
            'actor.use_kl_loss',
            'Hold the policy near the reference with a KL in the loss.',
          ),
    ],
    step: of.stepOf(metric),
  }
}

export const entropy_collapse: DiagnosisRule = (of) => {
  const metric = 'actor/entropy'
  const now = of.recent(metric)
  const first = of.early(metric)
  const score = of.recent(of.score) ?? 0
  if (now === undefined || first === undefined || score > SOLVED) return undefined
  const floor = Math.min(FLAT_ENTROPY * of.max_entropy, first / 4)
  if (now >= floor) return undefined
  return {
    is_severe: score < 0.5,
    excess: (floor - now) / floor,
    title: 'The policy no longer explores',
    evidence: `Its entropy is ${short(now)} nats per token over the last ${WINDOW} steps and was ${short(first)} over the first ${WINDOW}; the mean score is ${short(score)}.`,
    meaning:
      'It gives nearly the same response every time, and what it never samples it can not learn.',
    advice: [
      of.advice('actor.entropy_coeff', 'Reward entropy with 0.003 to 0.03.'),
      of.advice('actor.optim.lr', 'Lower the learning rate, so that it does not settle so soon.'),
    ],
    step: of.stepOf(metric),
  }
}

export const value_loss_flat: DiagnosisRule = (of) => {
  const metric = 'critic/vf_loss'
  if (!asksCritic(of.phase.adv_estimator) || of.count(metric) < CRITIC_STEPS) return undefined
  const now = of.recent(metric, 10)
  const first = of.early(metric, 10)
  const explained = of.recent('critic/vf_explained_var', 10)
  if (now === undefined || first === undefined || explained === undefined) return undefined
  // Returns that hardly differ leave nothing to explain.
  if (now < 0.001 || now < 0.9 * first || explained > EXPLAINED) return undefined
  return {
    is_severe: false,
    excess: EXPLAINED - Math.max(-1, explained),
    title: 'The critic does not learn',
    evidence: `Its loss is ${short(now)} over the last 10 steps and was ${short(first)} over the first 10; it explains ${percent(Math.max(0, explained))} of the variance of the returns after ${of.count(metric)} steps.`,
    meaning:
      'The advantages are then rewards less noise, with more variance than a plain mean leaves.',
    advice: [
      of.advice('critic.optim.lr', 'Raise the critic’s learning rate; the presets use 1e-3.'),
      of.advice('critic.critic_warmup', 'Let the critic learn some steps before the actor moves.'),
    ],
    step: of.stepOf(metric),
  }
}
