// The rules between the fields of an experiment, and its phases as the trainer runs them.
import type { Actor } from '../../rl/config/actor.ts'
import type { Algorithm } from '../../rl/config/algorithm.ts'
import type { Critic } from '../../rl/config/critic.ts'
import { type Phase, STOP_DEFAULTS } from '../../rl/config/phase.ts'
import { createTask } from '../../tasks/index.ts'
import type { Task } from '../../tasks/task.ts'
import { comparesGroups, hasCritic } from './conditions.ts'
import { dataRules } from './epochs.ts'
import { correctionRules, lossRules, rejectionRules } from './loss_rules.ts'
import { type Issue, valueAt } from './paths.ts'
import { layersOf } from './phase_fields.ts'
import {
  criticRules,
  filterRules,
  hasRewardModel,
  stopRules,
  trainedRules,
  warmupRules,
} from './phase_rules.ts'
import { settingsOf } from './phase_settings.ts'
import { readKernels } from './pinned_kernels.ts'
import type { ActorFields, AlgorithmFields, CriticFields } from './rl_fields.ts'
import type { Rule, RuledPhase } from './rule.ts'
import {
  ADV_ESTIMATOR_LABELS,
  type Experiment,
  LOWEST_TEMPERATURE,
  type RewardModelDocument,
} from './schema.ts'
import { emptyFrom, readVerdicts } from './verdicts.ts'

/** The task an experiment trains on. */
export function taskOf(choice: Experiment['task']): Task {
  const { id, ...params } = choice
  return createTask(id, params as Record<string, number>)
}

/** The rules between fields, each with its reason. */
export function brokenRules(experiment: Experiment): Issue[] {
  const issues: Issue[] = []
  const rule: Rule = (holds, path, involved, message) => {
    if (!holds) issues.push({ path, message, involved })
  }
  modelRules(experiment, rule)
  dataRules(experiment, taskOf(experiment.task), rule)
  const kernels = readKernels(experiment.kernels)
  rule(kernels.ok, 'kernels', [], kernels.ok ? '' : kernels.problem)
  rule(
    !experiment.probe.internals || experiment.validation.test_freq > 0,
    'probe.internals',
    ['validation.test_freq'],
    'expected off, or an evaluation every so many steps, because entropy changes are measured on steps that evaluate and there are none',
  )
  const { temperature } = experiment.validation
  rule(
    temperature === 0 || temperature >= LOWEST_TEMPERATURE,
    'validation.temperature',
    [],
    `expected 0 (as the last phase of reinforcement samples) or at least ${LOWEST_TEMPERATURE}, because logits are divided by it; got ${temperature}`,
  )
  for (const [i, phase] of experiment.phases.entries()) {
    stopRules(experiment, i, rule)
    if (phase.kind === 'reward_model') pairRules(phase, `phases.${i}`, rule)
    if (phase.kind !== 'rl') continue
    rule(
      !phase.reward_model.enable || hasRewardModel(experiment.phases, i),
      `phases.${i}.reward_model.enable`,
      [],
      'expected false, because no earlier phase of kind reward_model trains a reward model to score the responses; got true',
    )
    const at = `phases.${i}`
    const path = (name: string) => (valueAt(phase, name) === undefined ? name : `${at}.${name}`)
    const settings = settingsOf(experiment, phase)
    const ruled: RuledPhase = { experiment, phase, at, settings, path, rule }
    batchRules(ruled)
    estimatorRules(ruled)
    warmupRules(ruled)
    criticRules(ruled)
    lossRules(ruled)
    rewardRules(ruled)
    correctionRules(ruled)
    rejectionRules(ruled)
    trainedRules(ruled)
    filterRules(ruled)
  }
  // One broken shared setting is one issue, however many phases use it.
  return issues.filter((a, i) => issues.findIndex((b) => b.path === a.path) === i)
}

function modelRules({ model }: Experiment, rule: Rule): void {
  const { num_attention_heads, num_key_value_heads, head_dim } = model
  rule(
    num_attention_heads % num_key_value_heads === 0,
    'model.num_key_value_heads',
    ['model.num_attention_heads'],
    `expected a divisor of num_attention_heads (${num_attention_heads}), because every key-value head serves the same number of query heads; got ${num_key_value_heads}`,
  )
  rule(
    head_dim % 2 === 0,
    'model.head_dim',
    [],
    `expected an even number, because rotary positions turn channels in pairs; got ${head_dim}`,
  )
}

function pairRules({ pairs }: RewardModelDocument, at: string, rule: Rule): void {
  const { source, count, held_out, min_pairs } = pairs
  rule(
    source !== 'human' || min_pairs <= count + held_out,
    `${at}.pairs.min_pairs`,
    [`${at}.pairs.count`, `${at}.pairs.held_out`],
    `expected at most ${count + held_out}, because there are no more pairs to judge; got ${min_pairs}`,
  )
  const verdicts = readVerdicts(pairs.verdicts) ?? []
  const begins = verdicts.some(({ choice, step }) => step === 0 && /^[ab]$/.test(choice))
  const is_asked = source !== 'human' || verdicts.length === 0
  rule(
    is_asked || begins,
    `${at}.pairs.verdicts`,
    [`${at}.pairs.source`],
    `expected an a or b before the first number, because training needs a pair to begin with; got '${pairs.verdicts}'`,
  )
  const empty_from = begins ? emptyFrom(verdicts) : undefined
  rule(
    is_asked || empty_from === undefined,
    `${at}.pairs.verdicts`,
    [`${at}.pairs.source`],
    `expected an a or b to stay in force, because training needs a pair to go on with; after step ${empty_from} of '${pairs.verdicts}' all are taken back`,
  )
}

function batchRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { rollout, actor } = settings
  const { num_hidden_layers } = experiment.model
  const layer = phase.target_layer
  rule(
    layer === 'final' || layer < num_hidden_layers,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    `expected 'final' or a layer of the model, which has ${num_hidden_layers}; got ${layer}`,
  )
  rule(
    rollout.train_batch_size % actor.ppo_mini_batch_size === 0,
    path('actor.ppo_mini_batch_size'),
    [path('rollout.train_batch_size')],
    `expected a divisor of train_batch_size (${rollout.train_batch_size}), because every mini-batch has the same size; got ${actor.ppo_mini_batch_size}`,
  )
  const rows = actor.ppo_mini_batch_size * rollout.n
  const micro = actor.ppo_micro_batch_size_per_gpu
  const critic_mini = hasCritic(settings) ? settings.critic.ppo_mini_batch_size : 0
  rule(
    critic_mini === 0 || rollout.train_batch_size % critic_mini === 0,
    path('critic.ppo_mini_batch_size'),
    [path('rollout.train_batch_size')],
    `expected 0 (the actor's) or a divisor of train_batch_size (${rollout.train_batch_size}), because every mini-batch has the same size; got ${critic_mini}`,
  )
  const critic_rows = critic_mini * rollout.n
  rule(
    micro === 0 || critic_rows % micro === 0,
    path('critic.ppo_mini_batch_size'),
    [path('actor.ppo_micro_batch_size_per_gpu'), path('rollout.n')],
    `expected a mini-batch of the critic that divides into micro-batches of ${micro} responses (ppo_micro_batch_size_per_gpu), because the critic goes through those of the actor; got ${critic_rows} responses`,
  )
  rule(
    micro === 0 || rows % micro === 0,
    path('actor.ppo_micro_batch_size_per_gpu'),
    [path('actor.ppo_mini_batch_size'), path('rollout.n')],
    `expected 0 (as many as fit) or a divisor of the ${rows} responses of a mini-batch, because every micro-batch has the same size; got ${micro}`,
  )
  rule(
    rollout.top_k !== 0,
    path('rollout.top_k'),
    [],
    'expected -1 (off) or at least 1 token to choose from; got 0',
  )
  const least = taskOf(experiment.task).max_response_length
  rule(
    rollout.max_response_length >= least,
    path('rollout.max_response_length'),
    Object.keys(experiment.task).map((name) => `task.${name}`),
    `expected at least ${least}, because the task’s longest answer with its end token has that length; got ${rollout.max_response_length}`,
  )
}

function estimatorRules({ experiment, phase, at, settings, path, rule }: RuledPhase): void {
  const { adv_estimator, rollout, critic } = settings
  rule(
    rollout.n >= 2 || !comparesGroups(adv_estimator),
    path('rollout.n'),
    [`${at}.adv_estimator`],
    `expected at least 2 responses per prompt, because ${ADV_ESTIMATOR_LABELS[adv_estimator]} compares them with each other (gae, reinforce_plus_plus and remax do not); got ${rollout.n}`,
  )
  const { critic_warmup } = critic
  const is_own = phase.critic?.critic_warmup !== undefined
  const others = experiment.phases.filter((other) => other.kind === 'rl')
  // A shared setting may be meant for another phase.
  const is_used = is_own
    ? hasCritic(settings)
    : others.some((other) => hasCritic(settingsOf(experiment, other)))
  rule(
    critic_warmup === 0 || is_used,
    path('critic.critic_warmup'),
    [`${at}.adv_estimator`],
    `expected 0, because only adv_estimator gae has a critic to warm up; got ${critic_warmup}`,
  )
}

function rewardRules({ settings, path, rule }: RuledPhase): void {
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
    overlong_buffer.len <= rollout.max_response_length,
    path('algorithm.overlong_buffer.len'),
    [path('rollout.max_response_length')],
    `expected at most max_response_length (${rollout.max_response_length}), because the buffer is its end; got ${overlong_buffer.len}`,
  )
}

/** The engine has null for what is 0 here. */
function engineActor(actor: ActorFields): Actor {
  return {
    ...actor,
    loss_scale_factor: actor.loss_scale_factor || null,
    ppo_micro_batch_size_per_gpu: actor.ppo_micro_batch_size_per_gpu || null,
  }
}

/** As above. */
const engineCritic = (critic: CriticFields): Critic => ({
  ...critic,
  ppo_mini_batch_size: critic.ppo_mini_batch_size || null,
  ppo_epochs: critic.ppo_epochs || null,
})

/** The engine has null for what is 'off', '' or a length of 0 here. */
function engineAlgorithm(algorithm: AlgorithmFields): Algorithm {
  const { rollout_correction, overlong_buffer } = algorithm
  const { rollout_is, rollout_rs, rollout_rs_threshold } = rollout_correction
  return {
    ...algorithm,
    rollout_correction: {
      ...rollout_correction,
      rollout_is: rollout_is === 'off' ? null : rollout_is,
      rollout_rs: rollout_rs.trim() || null,
      rollout_rs_threshold: rollout_rs_threshold.trim() || null,
    },
    overlong_buffer: overlong_buffer.len > 0 ? overlong_buffer : null,
  }
}

/** The phases as the trainer runs them: names given, own settings laid over the experiment's, layers as numbers. */
export function resolvePhases(experiment: Experiment): Phase[] {
  const layers = experiment.model.num_hidden_layers
  return experiment.phases.map((phase) => {
    if (phase.kind === 'sft') {
      const { epochs: _, ...sft } = phase
      const name = phase.name || 'warm start'
      return { ...sft, name, stop: { ...STOP_DEFAULTS, ...phase.stop } }
    }
    if (phase.kind === 'reward_model') {
      const verdicts = readVerdicts(phase.pairs.verdicts) ?? []
      return { ...phase, name: phase.name || 'reward model', pairs: { ...phase.pairs, verdicts } }
    }
    const target_layer = phase.target_layer === 'final' ? layers : phase.target_layer
    const name = target_layer === layers ? 'whole model' : `layer ${target_layer}`
    const { kind, steps, stop, target_readout, freeze, lr_factor_above } = phase
    const { reset_optimizer, reset_schedule } = phase
    const { actor, critic, algorithm, ...settings } = settingsOf(experiment, phase)
    return {
      kind,
      name: phase.name || name,
      steps,
      stop,
      target_layer,
      ...{ target_readout, reset_optimizer, reset_schedule, lr_factor_above },
      freeze: { ...freeze, layers: layersOf(freeze.layers) },
      ...settings,
      actor: engineActor(actor),
      critic: engineCritic(critic),
      algorithm: engineAlgorithm(algorithm),
    }
  })
}
