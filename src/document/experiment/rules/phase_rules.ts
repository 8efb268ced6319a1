// Checks the rules between what a reinforcement phase trains, what it freezes and what it draws,
// and when a phase may end.
import { isAdaptedBlock } from '../../../model/layout/lora.ts'
import { layersOf } from '../../../rl/config/layer_list.ts'
import { loraOf } from '../fields/lora_fields.ts'
import { hasAdapter } from '../fields/model_fields.ts'
import { vectorsOf } from '../fields/vectors_fields.ts'
import { hasCritic, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import type { Rule, RuledPhase } from './rule.ts'

/** The layer whose policy a phase trains, as a number. */
const targetOf = ({ experiment, phase }: RuledPhase): number =>
  phase.target_layer === 'final' ? experiment.model.num_hidden_layers : phase.target_layer

/** A phase has something to train. */
export function trainedRules(ruled: RuledPhase): void {
  const { experiment, phase, at, rule } = ruled
  const { num_hidden_layers: L, tie_word_embeddings } = experiment.model
  const target = targetOf(ruled)
  const whose = phase.target_layer === 'final' ? 'the last layer' : 'the trained layer'
  rule(
    phase.target_readout === 'raw' || phase.target_layer !== 'final',
    `${at}.target_readout`,
    [`${at}.target_layer`],
    `expected 'raw', because the whole model's policy has the final norm already; the read-out is a choice for inner layers`,
  )
  normRules(ruled)
  const frozen = layersOf(phase.freeze.layers)
  const missing = frozen.find((layer) => layer > L)
  rule(
    missing === undefined,
    `${at}.freeze.layers`,
    ['model.num_hidden_layers'],
    `expected layers of the model, 1 to ${L}; got ${missing}`,
  )
  const { layer, factor } = phase.lr_factor_above
  rule(
    factor === 1 || layer < target,
    `${at}.lr_factor_above.layer`,
    [`${at}.target_layer`, 'model.num_hidden_layers', `${at}.lr_factor_above.factor`],
    `expected less than ${target}, ${whose}, because no layer above it is trained that could have another rate; got ${layer}`,
  )
  const trained = Array.from({ length: target }, (_, i) => i + 1).filter(
    (block) => !frozen.includes(block) && !(factor === 0 && block > layer),
  )
  const lora = loraOf(experiment.model.lora)
  const vectors = vectorsOf(experiment.model.steering_vectors)
  rule(
    !lora || trained.some((block) => isAdaptedBlock(lora, block - 1)),
    `${at}.target_layer`,
    ['model.lora.r', 'model.lora.layers_to_transform', `${at}.freeze.layers`],
    `expected a layer with an adapter at or below ${target}, ${whose}, that is not frozen, because the phase would learn nothing`,
  )
  const steered = vectors?.layers ?? trained
  rule(
    !vectors ||
      steered.some(
        (l) => l <= target && (l === 0 ? !phase.freeze.embed_tokens : trained.includes(l)),
      ),
    `${at}.target_layer`,
    ['model.steering_vectors.trainable', 'model.steering_vectors.layers', `${at}.freeze.layers`],
    `expected a layer with a vector at or below ${target}, ${whose}, that is not frozen, because the phase would learn nothing`,
  )
  rule(
    lora !== undefined ||
      vectors !== undefined ||
      trained.length > 0 ||
      !phase.freeze.embed_tokens ||
      !tie_word_embeddings,
    `${at}.freeze.layers`,
    [`${at}.freeze.embed_tokens`, `${at}.lr_factor_above.factor`, `${at}.target_layer`],
    `expected the embedding or a layer that is left to train, because with all of them frozen ${learnsNorm(ruled) ? 'nothing but the final norm would learn' : 'the phase would learn nothing'}`,
  )
}

/** A final norm that is decayed is one that the phase would leave alone. */
function normRules({ experiment, phase, at, rule }: RuledPhase): void {
  const { decay_final_norm, target_layer, target_readout } = phase
  const isTrained = target_layer === 'final' || target_readout !== 'raw'
  rule(
    !decay_final_norm || !(isTrained || hasAdapter(experiment)),
    `${at}.decay_final_norm`,
    [
      `${at}.target_layer`,
      `${at}.target_readout`,
      'model.lora.r',
      'model.steering_vectors.trainable',
    ],
    `expected false, because ${isTrained ? 'the phase trains the final norm already' : 'an adapter leaves the final norm as it is'}; got true`,
  )
}

/** Whether the final norm learns: the whole model's policy and a normed read-out have it, unless
 * the rate above a layer is 0. */
const learnsNorm = ({ phase }: RuledPhase): boolean =>
  (phase.target_layer === 'final' || phase.target_readout !== 'raw') &&
  phase.lr_factor_above.factor > 0

/** Dynamic sampling compares responses, so there must be two that can differ. */
export function filterRules({ settings, path, rule }: RuledPhase): void {
  const { rollout, algorithm } = settings
  const { enable, metric } = algorithm.filter_groups
  rule(
    !enable || rollout.n >= 2,
    path('algorithm.filter_groups.enable'),
    [path('rollout.n')],
    `expected off, or at least 2 responses per prompt, because one response alone cannot differ from others; got n = ${rollout.n}`,
  )
  rule(
    !enable || metric !== 'seq_final_reward' || !algorithm.use_kl_in_reward,
    path('algorithm.filter_groups.metric'),
    [path('algorithm.use_kl_in_reward')],
    'expected acc, score or seq_reward, because with the KL in the reward the responses of every group differ and none would be left out; got seq_final_reward',
  )
}

/** Whether a reward model was trained before phase `index`. */
export const hasRewardModel = (phases: Experiment['phases'], index: number): boolean =>
  phases.slice(0, index).some(({ kind }) => kind === 'reward_model')

/** The first phase with a critic in the stage of phase `index`, where that has a critic: there the
 * critic begins. */
function criticBegins(experiment: Experiment, index: number): number {
  let first = index
  for (let i = index; i >= 0; i--) {
    const phase = experiment.phases[i]
    if (phase.kind !== 'rl') break
    if (hasCritic(settingsOf(experiment, phase))) first = i
  }
  return first
}

/** Whether a form offers a choice of what the critic of phase `index` begins as: one that cannot
 * only be refused. */
export function mayChooseCritic(experiment: Experiment, index: number): boolean {
  const phase = experiment.phases[index]
  const withCritic = phase.kind === 'rl' && hasCritic(settingsOf(experiment, phase))
  return (
    withCritic &&
    hasRewardModel(experiment.phases, index) &&
    criticBegins(experiment, index) === index
  )
}

/** A critic begins where its stage does, and as a model that there is. */
export function criticRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  if (!hasCritic(settings)) return
  const { init } = settings.critic.model
  const index = experiment.phases.indexOf(phase)
  const first = criticBegins(experiment, index)
  if (first === index)
    rule(
      init === 'actor' || hasRewardModel(experiment.phases, index),
      path('critic.model.init'),
      [`${at}.adv_estimator`],
      `expected 'actor', because no earlier phase of kind reward_model trains a reward model that the critic of phase ${index + 1} could begin as; got '${init}'`,
    )
  else
    rule(
      phase.critic?.model?.init === undefined,
      `${at}.critic.model.init`,
      [`phases.${first}.adv_estimator`],
      `expected no value of this phase's own, because its critic began in phase ${first + 1} and continues here; got '${init}'`,
    )
}

/** Steps with a critic from the beginning of the phase's stage to its own end: the schedule of
 * critic_warmup. */
function criticSteps({ phases, ...experiment }: Experiment, index: number): number {
  let count = 0
  for (let i = index; i >= 0; i--) {
    const phase = phases[i]
    if (phase.kind !== 'rl') break
    if (hasCritic(settingsOf({ phases, ...experiment }, phase))) count += phase.steps
  }
  return count
}

/** The critic's warm-up ends before the phase does. */
export function warmupRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { critic_warmup } = settings.critic
  const steps = criticSteps(experiment, experiment.phases.indexOf(phase))
  rule(
    !hasCritic(settings) || critic_warmup <= steps,
    path('critic.critic_warmup'),
    [`${at}.steps`, `${at}.adv_estimator`],
    `expected at most ${steps}, the steps with a critic up to the end of the phase, because the policy would never learn; got ${critic_warmup}`,
  )
}

/** Conditions that nothing is ever measured for. */
export function stopRules(experiment: Experiment, index: number, rule: Rule): void {
  const phase = experiment.phases[index]
  if (phase.kind === 'reward_model') return
  const at = `phases.${index}`
  rule(
    phase.stop.accuracy === null || experiment.validation.test_freq !== null,
    `${at}.stop.accuracy`,
    ['validation.test_freq'],
    `expected null (off), or an evaluation at some interval, because held-out accuracy is measured by evaluations alone and there are none; got ${phase.stop.accuracy}`,
  )
  if (phase.kind !== 'rl' || phase.target_layer === 'final') return
  const { entropy_floor } = phase.stop
  rule(
    entropy_floor === null || phase.target_readout === 'raw',
    `${at}.stop.entropy_floor`,
    [`${at}.target_readout`],
    `expected null (off) where a layer is read through the final norm, because the entropy that steps measure is that of its raw states; got ${entropy_floor}`,
  )
  rule(
    entropy_floor === null || experiment.probe.freq !== null,
    `${at}.stop.entropy_floor`,
    ['probe.freq'],
    `expected null (off), or a probe at some interval, because the entropy of layer ${phase.target_layer} is measured by the probe alone, which is off; got ${entropy_floor}`,
  )
}
