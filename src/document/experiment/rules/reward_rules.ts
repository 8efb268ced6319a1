// Checks the rules between estimators, the critic's warm-up and what is taken off rewards; and
// those of the pairs of a reward model.
import { ESTIMATOR_LIST, estimatorOf } from '../../../rl/estimators/advantages.ts'
import type { Estimator } from '../../../rl/estimators/estimator.ts'
import { type PairedDocument, takesVerdicts } from '../fields/phases.ts'
import { emptyFrom, recordedVerdicts } from '../fields/verdicts.ts'
import { hasCritic, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import type { Rule, RuledPhase } from './rule.ts'

/** The estimators for which something holds, as a sentence lists them. */
const namesOf = (holds: (estimator: Estimator) => boolean): string =>
  ESTIMATOR_LIST.filter(holds)
    .map(({ label }) => label)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ')

/** Estimators that compare responses have two, and only a critic is warmed up. */
export function estimatorRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { rollout, critic } = settings
  const { label, comparesGroups } = estimatorOf(settings.adv_estimator)
  rule(
    rollout.n >= 2 || !comparesGroups,
    path('rollout.n'),
    [`${at}.adv_estimator`],
    `expected at least 2 responses per prompt, because ${label} compares them; got ${rollout.n}`,
  )
  const { critic_warmup } = critic
  const isOwn = phase.critic?.critic_warmup !== undefined
  const others = experiment.phases.filter((other) => other.kind === 'rl')
  // A shared setting may be meant for another phase.
  const isUsed = isOwn
    ? hasCritic(settings)
    : others.some((other) => hasCritic(settingsOf(experiment, other)))
  rule(
    critic_warmup === 0 || isUsed,
    path('critic.critic_warmup'),
    [`${at}.adv_estimator`],
    `expected 0, because only ${namesOf(({ needs }) => needs.includes('values'))} has a critic to warm up; got ${critic_warmup}`,
  )
}

/** GDPO compares the parts of a reward, which nothing else changes. */
export function componentRules({ experiment, at, settings, path, rule }: RuledPhase): void {
  if (settings.adv_estimator !== 'gdpo') return
  const hasParts = experiment.reward.parts.length > 0
  rule(
    !settings.reward_model.enable,
    `${at}.reward_model.enable`,
    [`${at}.adv_estimator`],
    'expected false, because gdpo compares the parts of the reward, and a reward model has none; got true',
  )
  rule(
    !hasParts || !settings.algorithm.use_kl_in_reward,
    path('algorithm.use_kl_in_reward'),
    [`${at}.adv_estimator`],
    'expected false, because gdpo compares each part of the reward by itself, without a KL; put it in the loss; got true',
  )
  rule(
    !hasParts || settings.algorithm.overlong_buffer.len === null,
    path('algorithm.overlong_buffer.len'),
    [`${at}.adv_estimator`],
    `expected null, because gdpo compares each part of the reward by itself, without penalties; got ${settings.algorithm.overlong_buffer.len}`,
  )
}

/** An adaptive KL has numbers to adapt, and the overlong buffer fits a response. */
export function rewardRules({ settings, path, rule }: RuledPhase): void {
  const { rollout, algorithm } = settings
  const { kl_ctrl, overlong_buffer } = algorithm
  rule(
    !algorithm.use_kl_in_reward || kl_ctrl.type === 'fixed' || kl_ctrl.kl_coef > 0,
    path('algorithm.kl_ctrl.kl_coef'),
    [path('algorithm.kl_ctrl.type'), path('algorithm.use_kl_in_reward')],
    `expected a number above 0, because an adaptive coefficient is changed by multiplying and would stay 0; got ${kl_ctrl.kl_coef}`,
  )
  rule(
    kl_ctrl.type === 'fixed' || kl_ctrl.target_kl > 0,
    path('algorithm.kl_ctrl.target_kl'),
    [path('algorithm.kl_ctrl.type')],
    `expected a number above 0, because an adaptive coefficient compares the KL with it; got ${kl_ctrl.target_kl}`,
  )
  rule(
    (overlong_buffer.len ?? 0) <= rollout.max_response_length,
    path('algorithm.overlong_buffer.len'),
    [path('rollout.max_response_length')],
    `expected at most max_response_length (${rollout.max_response_length}), because the buffer is its end; got ${overlong_buffer.len}`,
  )
}

/** Pairs that the policy makes at the beginning of a phase. */
const MOST_MADE = 4096

/** A person's verdicts leave pairs to train on, and a file has them. */
export function pairRules(
  { task }: Experiment,
  phase: PairedDocument,
  at: string,
  rule: Rule,
): void {
  const { pairs } = phase
  const { source, count, held_out, min_pairs } = pairs
  const ofVerdicts = takesVerdicts(task, phase)
  const noPairs =
    task.row_format === 'verdicts'
      ? 'no prompt of the rows has a good answer and a bad one, which would be a pair (a preference phase with loss_type kto learns from single answers)'
      : 'the task has no rows with pairs of a better and a worse answer'
  rule(
    source !== 'file' || ofVerdicts || Number(task.train_pairs ?? 0) > 0,
    `${at}.pairs.source`,
    ['task.id', 'task.row_format', 'task.train_pairs'],
    `expected judge, human or mixed, because ${noPairs}; got file`,
  )
  rule(
    source !== 'file' || !ofVerdicts || Number(task.train_undesirable) > 0,
    `${at}.pairs.source`,
    ['task.train_undesirable'],
    'expected rows with bad answers too, because rewards of good and bad answers are compared; the rows have good ones alone',
  )
  rule(
    source === 'file' || count <= MOST_MADE,
    `${at}.pairs.count`,
    [`${at}.pairs.source`],
    `expected at most ${MOST_MADE} pairs that the policy makes; got ${count}`,
  )
  rule(
    source !== 'human' || min_pairs <= count + held_out,
    `${at}.pairs.min_pairs`,
    [`${at}.pairs.count`, `${at}.pairs.held_out`],
    `expected at most ${count + held_out}, because there are no more pairs to judge; got ${min_pairs}`,
  )
  const verdicts = recordedVerdicts(pairs)
  const begins = verdicts.some(({ choice, step }) => step === 0 && /^[ab]$/.test(choice))
  const isAsked = source !== 'human' || verdicts.length === 0
  rule(
    isAsked || begins,
    `${at}.pairs.verdicts`,
    [`${at}.pairs.source`],
    `expected an a or b before the first number, because training needs a pair to begin with; got '${pairs.verdicts}'`,
  )
  const emptyStep = begins ? emptyFrom(verdicts) : undefined
  rule(
    isAsked || emptyStep === undefined,
    `${at}.pairs.verdicts`,
    [`${at}.pairs.source`],
    `expected an a or b to stay in force, because training needs a pair to continue with; after step ${emptyStep} of '${pairs.verdicts}' all are taken back`,
  )
}
