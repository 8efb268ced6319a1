// Checks the rules between the settings of a loss and of rollout correction, which chooses one of
// its own in bypass mode.
import { bypassLoss, listOf } from '../../../rl/config/rollout_correction.ts'
import { numberPath, numbersOf, policyLossOf } from '../../../rl/losses/losses.ts'
import { hasAdapter } from '../fields/model_fields.ts'
import { taskOf } from '../fields/task_fields.ts'
import { correctsRollout } from '../schema/phase_settings.ts'
import type { RuledPhase } from './rule.ts'

const CORRECTION = 'algorithm.rollout_correction'

/** The loss fits bypass mode, and its numbers fit each other. */
export function lossRules({ experiment, settings, path, rule }: RuledPhase): void {
  const { loss_mode } = settings.actor
  const { bypass_mode, loss_type, rollout_is } = settings.algorithm.rollout_correction
  rule(
    !bypass_mode || loss_mode === 'vanilla' || loss_mode === bypassLoss({ loss_type }),
    path('actor.loss_mode'),
    [path(`${CORRECTION}.bypass_mode`), path(`${CORRECTION}.loss_type`)],
    `expected 'vanilla', because in bypass mode the loss is chosen by rollout_correction.loss_type (${loss_type}); got '${loss_mode}'`,
  )
  const loss = policyLossOf(loss_mode)
  rule(
    loss.holdsWeights !== 'token' || rollout_is !== 'sequence',
    path(`${CORRECTION}.rollout_is`),
    [path('actor.loss_mode')],
    `expected 'token', because the loss ${loss_mode} adds up the weights of the tokens itself; got 'sequence'`,
  )
  rule(
    settings.actor.top_entropy_quantile === 1 || (!bypass_mode && loss.ownMean !== 'responses'),
    path('actor.top_entropy_quantile'),
    [path('actor.loss_mode'), path(`${CORRECTION}.bypass_mode`)],
    `expected 1, because ${bypass_mode ? 'bypass mode chooses the tokens that count' : `the loss ${loss_mode} has no parts for single tokens`}; got ${settings.actor.top_entropy_quantile}`,
  )
  rule(
    !settings.actor.sync_ref_model || !hasAdapter(experiment),
    path('actor.sync_ref_model'),
    ['model.lora.r', 'model.steering_vectors.trainable'],
    'expected false, because the reference of an adapter is its frozen base; got true',
  )
  const found = loss.contradiction?.(numbersOf(loss, settings.actor))
  if (found)
    rule(
      false,
      path(numberPath(found.at)),
      [...found.with.map((name) => path(numberPath(name))), path('actor.loss_mode')],
      `expected ${found.expected}`,
    )
}

/** An entropy target can be reached, and is of the policy that samples. */
export function entropyRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { use_adaptive_entropy, entropy_target, entropy_coef_min, entropy_coef_max, entropy_of } =
    settings.actor
  if (!use_adaptive_entropy) return
  const most = Math.log(taskOf(experiment.task).tokenizer.tokens.length)
  rule(
    entropy_target < most,
    path('actor.entropy_target'),
    ['task.id'],
    `expected less than ln V = ${most.toPrecision(4)} nats, because no policy over the tokens of this vocabulary has more entropy; got ${entropy_target}`,
  )
  rule(
    entropy_coef_min <= entropy_coef_max,
    path('actor.entropy_coef_min'),
    [path('actor.entropy_coef_max')],
    `expected at most entropy_coef_max (${entropy_coef_max}); got ${entropy_coef_min}`,
  )
  rule(
    phase.target_layer === 'final' || entropy_of === 'final',
    path('actor.entropy_of'),
    [`${at}.target_layer`, path('actor.use_adaptive_entropy')],
    `expected 'final', because the target is of the whole model's policy, which samples; got '${entropy_of}'`,
  )
}

/** Rollout correction is for phases that train the whole model, which is what samples. */
export function correctionRules({ phase, at, settings, path, rule }: RuledPhase): void {
  const { bypass_mode, rollout_is } = settings.algorithm.rollout_correction
  const layer = phase.target_layer
  const cause = bypass_mode ? 'bypass_mode' : rollout_is === null ? 'rollout_rs' : 'rollout_is'
  rule(
    layer === 'final' || !settings.rollout.calculate_log_probs,
    path('rollout.calculate_log_probs'),
    [`${at}.target_layer`],
    `expected false in a phase that trains layer ${layer}, because the whole model samples and so two different policies would be compared; got true`,
  )
  rule(
    layer === 'final' || !correctsRollout(settings),
    path(`${CORRECTION}.${cause}`),
    [`${at}.target_layer`],
    `expected no rollout correction in a phase that trains layer ${layer}, because the whole model samples and so two different policies would be compared; set it in phases of the whole model alone`,
  )
  const { rollout_is_threshold: upper, rollout_is_threshold_lower: lower } =
    settings.algorithm.rollout_correction
  rule(
    lower === null || lower <= upper,
    path(`${CORRECTION}.rollout_is_threshold_lower`),
    [path(`${CORRECTION}.rollout_is_threshold`)],
    `expected at most rollout_is_threshold (${upper}), because weights between the two are kept; got ${lower}`,
  )
}

/** Each criterion of rejection has a threshold of its form. */
export function rejectionRules({ settings, path, rule }: RuledPhase): void {
  const { rollout_rs, rollout_rs_threshold } = settings.algorithm.rollout_correction
  const criteria = [...new Set(listOf(rollout_rs ?? ''))]
  if (criteria.length === 0) return
  const thresholds = listOf(rollout_rs_threshold ?? '')
  const at = path(`${CORRECTION}.rollout_rs_threshold`)
  const involved = [path(`${CORRECTION}.rollout_rs`)]
  const fits = thresholds.length === 1 || thresholds.length === criteria.length
  rule(
    fits,
    at,
    involved,
    `expected 1 or ${criteria.length} thresholds, because ${rollout_rs} has to be measured against them; got ${thresholds.length}`,
  )
  for (const [i, criterion] of fits ? criteria.entries() : []) {
    const threshold = thresholds[i] ?? thresholds[0]
    const bounds = threshold.split('_').map(Number)
    const isRatio = criterion.endsWith('k1')
    rule(
      isRatio || bounds.length === 1,
      at,
      involved,
      `expected one upper bound for ${criterion}, because it is never negative; got ${threshold}`,
    )
    rule(
      bounds.length === 1 ? !isRatio || bounds[0] >= 1 : bounds[0] <= bounds[1],
      at,
      involved,
      `expected lower_upper for ${criterion}, or an upper bound of at least 1, because the lower one is then 1 over it; got ${threshold}`,
    )
  }
}
