// Says what becomes of every field of an experiment outside the lab. A field is here once; the
// start scripts, the refusals and the README of a job are drawn from this list. Sources: verl
// v0.9.0 and v0.7.1 (_generated_ppo_trainer.yaml), BuPO d3a85c6, trl 1.13.0 (GRPOConfig).

import { lensFilesOf } from '../../document/experiment/fields/lens_fields.ts'
import { namesOf } from '../../document/experiment/fields/lora_fields.ts'
import { hasCritic } from '../../document/experiment/schema/phase_settings.ts'
import { hasBonus } from '../../rl/config/actor.ts'
import { asksTeacher } from '../../rl/config/algorithm.ts'
import { hasSet } from '../../rl/config/data.ts'
import { engineCorrection } from '../../rl/config/rollout_correction.ts'
import { DECLARED } from './declared.ts'
import {
  BATCH_STD,
  BUPO_ADV_ESTIMATORS,
  BUPO_LOSS_MODES,
  FILTER_METRICS,
  TODAYS_GRPO_VECTORIZED,
  TODAYS_NORM,
  TRL_ADV_ESTIMATORS,
  TRL_KL_LOSS_TYPES,
  TRL_LOSS_AGG_MODES,
  TRL_LOSS_MODES,
  VERL_0_7_LOSS_AGG_MODES,
  VERL_0_7_LOSS_MODES,
  VERL_ADV_ESTIMATORS,
  VERL_KL_LOSS_TYPES,
  VERL_KL_PENALTIES,
  VERL_LOSS_AGG_MODES,
  VERL_LOSS_MODES,
} from './known_values.ts'
import { by, EXPORT_FOR, type JobFacts, lost, oneOf, refused, type Setting, to } from './setting.ts'
import { teacherExpected } from './verl_teacher.ts'

const ACTOR = 'actor_rollout_ref.actor'
const ROLLOUT = 'actor_rollout_ref.rollout'
const CORRECTION = 'algorithm.rollout_correction'

const withCritic = ({ settings }: JobFacts) => hasCritic(settings)
const withKlLoss = ({ settings }: JobFacts) => settings.actor.use_kl_loss
const withKlReward = ({ settings }: JobFacts) => settings.algorithm.use_kl_in_reward
const withFilter = ({ settings }: JobFacts) => settings.algorithm.filter_groups.enable
const withOverlong = ({ settings }: JobFacts) => settings.algorithm.overlong_buffer.len !== null
const withCorrection = ({ settings }: JobFacts) =>
  settings.algorithm.rollout_correction.bypass_mode ||
  settings.algorithm.rollout_correction.rollout_is !== null ||
  settings.algorithm.rollout_correction.rollout_rs !== null
const withLora = ({ experiment }: JobFacts) => experiment.model.lora.r > 0
const withVectors = ({ experiment }: JobFacts) => experiment.model.steering_vectors.trainable
const withTurns = ({ settings }: JobFacts) => (settings.rollout.max_turns ?? 1) > 1
const withLoss =
  (...modes: string[]) =>
  ({ settings }: JobFacts) =>
    modes.includes(settings.actor.loss_mode)
const both =
  (...conditions: ((facts: JobFacts) => boolean)[]) =>
  (facts: JobFacts) =>
    conditions.every((holds) => holds(facts))

const NO_VECTORS =
  'it trains no steering vectors on a frozen model; set it to false, or save the vectors of the run from “What does a direction do?”'

/** The padding token of every tokenizer of the lab. */
const PAD = 0
const LEARNS_NO_PAD =
  'transformers hands pad_token_id to the embedding, so the padding token does not learn as an input; it is one only where the policy itself wrote it'

const NO_CRITIC = by('no critic, which TRL’s GRPOTrainer has not')
const NO_KL_REWARD = refused('TRL takes no KL off the reward; put it in the loss', false)
const NO_CORRECTION = 'its samples come from the trained model itself, so nothing is corrected'
const dividesByConstant = (mode: string) =>
  mode === 'seq-mean-token-sum-norm' || mode === TODAYS_NORM
/** verl's name of an aggregation. */
const inVerl = (mode: string) => (mode === TODAYS_NORM ? 'seq-mean-token-sum-norm' : mode)
/** The clip of a gradient whose loss sums tokens over a constant. verl (from 0.7.1) and TRL divide
 * that sum by the number of responses of the mini-batch, the lab and the fork do not; AdamW does
 * not see the factor, the clip does. */
const clipOf =
  (learner: 'actor' | 'critic') =>
  (clip: number, { settings }: JobFacts): number => {
    const { actor, rollout } = settings
    const { loss_agg_mode, ppo_mini_batch_size } = settings[learner]
    const prompts = ppo_mini_batch_size ?? actor.ppo_mini_batch_size
    return loss_agg_mode === 'seq-mean-token-sum-norm' ? clip / (prompts * rollout.n) : clip
  }
/** Kept for one sentence each, so that the README does not repeat itself. */
const TOLD = (path: string) => by(`what is said of ${path}`)

/** The optimizer's fields below `path`; verl's section of the same learner is `section`. */
function optimizer(
  path: 'actor.optim' | 'critic.optim',
  section: string,
  when?: Setting['when'],
): Record<string, Setting> {
  const isActor = path === 'actor.optim'
  const trl = (key: string, value?: Parameters<typeof to>[1]) =>
    isActor ? to(key, value) : NO_CRITIC
  const betas = (facts: JobFacts) =>
    (isActor ? facts.settings.actor : facts.settings.critic).optim.betas
  // verl's rate rises from step to step, TRL's from update to update: both ramps lose as much of
  // the full rate.
  const rampUpdates = (steps: number | null, { updates }: JobFacts) =>
    steps ? (steps + 1) * updates - 1 : 0
  const fields: Record<string, Setting> = {
    lr: { verl: to(`${section}.lr`), trl: trl('learning_rate') },
    optimizer: {
      verl: refused(
        'torch.optim.Muon takes matrices alone, and verl gives one optimizer every parameter; train by AdamW',
        'AdamW',
      ),
      trl: isActor
        ? refused(
            'torch.optim.Muon takes matrices alone, and TRL gives one optimizer every parameter; train by AdamW',
            'AdamW',
          )
        : NO_CRITIC,
    },
    'muon.*': { verl: TOLD(`${path}.optimizer`), trl: TOLD(`${path}.optimizer`) },
    lr_warmup_steps: {
      verl: to(`${section}.lr_warmup_steps`, (steps: number | null) => steps ?? -1),
      trl: trl('warmup_steps', rampUpdates),
    },
    lr_warmup_steps_ratio: {
      verl: to(`${section}.lr_warmup_steps_ratio`),
      trl: isActor
        ? refused('write the warm-up in steps (actor.optim.lr_warmup_steps)', 0)
        : NO_CRITIC,
    },
    lr_scheduler_type: {
      verl: oneOf(`${section}.lr_scheduler_type`, ['constant', 'cosine']),
      bupo: oneOf(`${section}.warmup_style`, ['constant', 'cosine']),
      trl: trl('lr_scheduler_type', (type: string) =>
        type === 'cosine' ? 'cosine_with_min_lr' : 'constant_with_warmup',
      ),
    },
    min_lr_ratio: {
      verl: to(`${section}.min_lr_ratio`),
      trl: by('lr_scheduler_kwargs'),
    },
    'betas.0': {
      verl: to(`${section}.betas`, (_: never, facts) => [...betas(facts)]),
      bupo: to(`+${section}.betas`, (_: never, facts) => [...betas(facts)]),
      trl: trl('adam_beta1'),
    },
    'betas.1': { verl: TOLD(`${path}.betas.0`), trl: trl('adam_beta2') },
    weight_decay: { verl: to(`${section}.weight_decay`), trl: trl('weight_decay') },
    decay_norms: {
      when: ({ settings }) => (isActor ? settings.actor : settings.critic).optim.weight_decay > 0,
      verl: lost('its AdamW decays every parameter', true),
      trl: isActor ? lost('it decays no norms and no biases', false) : NO_CRITIC,
    },
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, setting]) => [
      `${path}.${name}`,
      { ...setting, ...(when && { when }) },
    ]),
  )
}

/** Why a job leaves out what was changed by hand; of weights that were trained, the changes up to
 * their step. */
export const NOT_STEERED = {
  lost: 'a job is not steered: it keeps the values that it begins with',
  unless: '',
  trained: 'a job is not steered: it has what these changes led to from its first step to its last',
}

const RUN: Record<string, Setting> = {
  version: { verl: by('understory.json'), trl: by('understory.json') },
  name: {
    verl: to('trainer.experiment_name', (name: string | null) => name ?? 'understory'),
    trl: to('run_name', (name: string | null) => name ?? 'understory'),
  },
  seed: {
    verl: to(['data.seed', `${ROLLOUT}.seed`, `${ACTOR}.data_loader_seed`]),
    verl_0_7: to(['data.seed', `${ACTOR}.data_loader_seed`]),
    bupo: lost('the fork has no seeds', 1),
    trl: to('seed'),
  },
  'task.*': { verl: by('data/ and reward.py'), trl: by('data/ and reward.py') },
  'reward.*': { verl: by('reward.py'), trl: by('reward.py') },
  'data.train_max_samples': {
    verl: by('the rows of data/train.parquet'),
    trl: by('the rows of data/train.parquet'),
  },
  'data.shuffle': {
    verl: to(
      'data.shuffle',
      (shuffle: boolean, { experiment }) => hasSet(experiment.data) && shuffle,
    ),
    trl: to(
      'shuffle_dataset',
      (shuffle: boolean, { experiment }) => hasSet(experiment.data) && shuffle,
    ),
  },
  'model.enable_gradient_checkpointing': {
    verl: to('actor_rollout_ref.model.enable_gradient_checkpointing'),
    trl: to('gradient_checkpointing'),
  },
  'model.activations_dtype': {
    verl: lost('it keeps activations in what it computes in', 'float32'),
    trl: lost('it keeps activations in what it computes in', 'float32'),
  },
  'model.padding_idx': {
    verl: lost(LEARNS_NO_PAD, PAD),
    trl: lost(LEARNS_NO_PAD, PAD),
  },
  'model.lora.r': {
    verl: to('actor_rollout_ref.model.lora_rank', (r: number) => r || undefined),
    bupo: refused('whether its inner phases train an adapter is not known; train all weights', 0),
    trl: by('adapter/adapter_config.json'),
  },
  'model.lora.lora_alpha': {
    when: withLora,
    verl: to('actor_rollout_ref.model.lora_alpha'),
    trl: by('adapter/adapter_config.json'),
  },
  'model.lora.target_modules': {
    when: withLora,
    verl: to('actor_rollout_ref.model.target_modules', (names: string) =>
      names.includes(',') ? namesOf(names) : names.trim(),
    ),
    trl: by('adapter/adapter_config.json'),
  },
  'model.steering_vectors.trainable': {
    verl: refused(NO_VECTORS, false),
    trl: refused(NO_VECTORS, false),
  },
  'model.steering_vectors.*': {
    when: withVectors,
    verl: lost(NO_VECTORS),
    trl: lost(NO_VECTORS),
  },
  'model.lenses.*': {
    when: ({ experiment }) => lensFilesOf(experiment.model.lenses) !== undefined,
    verl: lost('an inner policy is read raw there'),
    trl: lost('an inner policy is read raw there'),
  },
  'model.lora.*': {
    verl: by('adapter/adapter_config.json'),
    trl: by('adapter/adapter_config.json'),
  },
  'teacher.*': {
    verl: by('teacher/config.json'),
    trl: by('the phases of the README'),
  },
  'model.*': { verl: by('model/config.json'), trl: by('model/config.json') },
  kernels: {
    verl: lost('the kernels of matrix products are the lab’s own', null),
    trl: lost('the kernels of matrix products are the lab’s own', null),
  },
  tools: {
    when: withTurns,
    verl: TOLD('rollout.max_turns'),
    verlChat: by('tools.py'),
    trl: TOLD('rollout.max_turns'),
  },
  steering: {
    verl: NOT_STEERED,
    trl: NOT_STEERED,
  },
}

const NOT_THE_WHOLE = `only BuPO’s fork trains the policy of an inner layer; ${EXPORT_FOR.bupo}`
const SEGMENTS = 'it trains all layers at one learning rate'
const stop = (what: string): Setting => ({
  verl: lost(`it does not stop by itself when ${what}`, null),
  trl: lost(`it does not stop by itself when ${what}`, null),
})

const PHASES: Record<string, Setting> = {
  'phases.sft.*': {
    verl: by('the phases of the README'),
    trl: by('the phases of the README'),
  },
  'phases.reward_model.*': {
    verl: by('the phases of the README'),
    trl: by('the phases of the README'),
  },
  'phases.preference.*': {
    verl: by('the phases of the README'),
    trl: by('the phases of the README'),
  },
  'phases.distill.*': {
    verl: by('the phases of the README'),
    trl: by('the phases of the README'),
  },
  'phases.rl.name': { verl: by('the phases of the README'), trl: by('the phases of the README') },
  'phases.rl.steps': {
    verl: to('trainer.total_training_steps', (_: never, { steps }) => steps),
    trl: to('max_steps', (_: never, { steps, updates }) => steps * updates),
  },
  'phases.rl.epochs': { verl: TOLD('phases.rl.steps'), trl: TOLD('phases.rl.steps') },
  'phases.rl.adv_estimator': {
    verl: oneOf('algorithm.adv_estimator', VERL_ADV_ESTIMATORS, (name: string) =>
      name === TODAYS_GRPO_VECTORIZED ? 'grpo_vectorized' : name,
    ),
    bupo: oneOf('algorithm.adv_estimator', BUPO_ADV_ESTIMATORS),
    trl: oneOf('', TRL_ADV_ESTIMATORS, () => undefined),
  },
  'phases.rl.target_layer': {
    verl: refused(NOT_THE_WHOLE, 'final'),
    trl: refused(NOT_THE_WHOLE, 'final'),
  },
  'phases.rl.target_readout': {
    when: ({ phase }) => phase.target_layer !== 'final',
    verl: refused('an inner policy is read raw there, without the final norm', 'raw'),
    trl: refused('an inner policy is read raw there, without the final norm', 'raw'),
  },
  'phases.rl.reset_optimizer': { verl: by('a new optimizer'), trl: by('a new optimizer') },
  'phases.rl.reset_schedule': { verl: by('a new schedule'), trl: by('a new schedule') },
  'phases.rl.freeze.embed_tokens': {
    verl: refused(SEGMENTS, false),
    trl: refused(SEGMENTS, false),
  },
  'phases.rl.freeze.layers': { verl: refused(SEGMENTS, null), trl: refused(SEGMENTS, null) },
  'phases.rl.lr_factor_above.layer': {
    verl: TOLD('phases.rl.lr_factor_above.factor'),
    trl: TOLD('phases.rl.lr_factor_above.factor'),
  },
  'phases.rl.lr_factor_above.factor': {
    verl: refused(SEGMENTS, 1),
    trl: refused(SEGMENTS, 1),
  },
  'phases.rl.decay_final_norm': {
    verl: TOLD('phases.rl.target_layer'),
    bupo: by('actor.strategy and trainer.n_gpus_per_node'),
    trl: TOLD('phases.rl.target_layer'),
  },
  'phases.rl.reward_model.enable': {
    verl: refused(
      'it would need the reward model on a server; a job is scored by reward.py',
      false,
    ),
    trl: refused('it would need the reward model on a server; a job is scored by reward.py', false),
  },
  'phases.rl.stop.accuracy': stop('held-out accuracy is reached'),
  'phases.rl.stop.score': stop('the reward is reached'),
  'phases.rl.stop.plateau_steps': stop('the reward stays level'),
  'phases.rl.stop.plateau_delta': {
    verl: TOLD('phases.rl.stop.plateau_steps'),
    trl: TOLD('phases.rl.stop.plateau_steps'),
  },
  'phases.rl.stop.entropy_floor': stop('the entropy is low'),
}

/** verl's names for the limits are those of multi_turn: max_assistant_turns for max_turns, and the
 * lab's own for the rest. */
const ONE_CHARACTER =
  'its tool parsers read <tool_call> and the like, and this vocabulary writes calls between single characters; export with rollout.max_turns 1'
const NO_TOOL_FILE =
  'verl 0.7 loads no tools from a file, and no version reads calls between single characters; export with rollout.max_turns 1, or for verl 0.9'
const MULTI_TURN = `${ROLLOUT}.multi_turn`
const turns = (name: string): Setting => ({
  when: withTurns,
  verl: TOLD('rollout.max_turns'),
  verlChat: to(`${MULTI_TURN}.${name}`),
  trl: TOLD('rollout.max_turns'),
})

const SAMPLING: Record<string, Setting> = {
  'rollout.train_batch_size': {
    verl: to('data.train_batch_size'),
    trl: by('steps_per_generation'),
  },
  'rollout.n': { verl: to(`${ROLLOUT}.n`), trl: to('num_generations') },
  'rollout.temperature': { verl: to(`${ROLLOUT}.temperature`), trl: to('temperature') },
  'rollout.top_p': { verl: to(`${ROLLOUT}.top_p`), trl: to('top_p') },
  'rollout.top_k': {
    verl: to(`${ROLLOUT}.top_k`, (k: number | null) => k ?? -1),
    trl: to('top_k', (k: number | null) => k ?? 0),
  },
  'rollout.max_response_length': {
    verl: to('data.max_response_length'),
    trl: to('max_completion_length'),
  },
  'rollout.max_turns': {
    verl: refused(ONE_CHARACTER, 1),
    verl_0_7: refused(NO_TOOL_FILE, 1),
    bupo: refused('the fork samples one turn', 1),
    verlChat: to(`${MULTI_TURN}.max_assistant_turns`, (most: number) =>
      most > 1 ? most : undefined,
    ),
    trl: refused('GRPOTrainer of this version runs no tools', 1),
  },
  'rollout.max_parallel_calls': turns('max_parallel_calls'),
  'rollout.max_tool_response_length': turns('max_tool_response_length'),
  'rollout.tool_response_truncate_side': turns('tool_response_truncate_side'),
  'rollout.dtype': {
    verl: lost('it samples in bfloat16, as its engines do, also where it trains in float32'),
    trl: by('float32 while sampling'),
  },
  'rollout.calculate_log_probs': {
    verl: to(`${ROLLOUT}.calculate_log_probs`, (on: boolean, facts) => on || withCorrection(facts)),
    trl: lost('it measures no rollout_corr/*', false),
  },
}

const LOSS: Record<string, Setting> = {
  'actor.ppo_mini_batch_size': {
    verl: to(`${ACTOR}.ppo_mini_batch_size`),
    trl: to(
      'per_device_train_batch_size',
      (prompts: number, { settings }) => prompts * settings.rollout.n,
    ),
  },
  'actor.ppo_epochs': { verl: to(`${ACTOR}.ppo_epochs`), trl: to('num_iterations') },
  'actor.shuffle': {
    verl: to(`${ACTOR}.shuffle`),
    trl: lost('it shuffles the responses of a batch once, always', true),
  },
  'actor.loss_mode': {
    verl: oneOf(`${ACTOR}.policy_loss.loss_mode`, VERL_LOSS_MODES),
    verl_0_7: oneOf(`${ACTOR}.policy_loss.loss_mode`, VERL_0_7_LOSS_MODES),
    bupo: oneOf(`${ACTOR}.policy_loss.loss_mode`, BUPO_LOSS_MODES),
    trl: oneOf('importance_sampling_level', TRL_LOSS_MODES, (mode: string, { settings }) =>
      mode === 'gspo'
        ? 'sequence'
        : mode === 'vespo'
          ? 'token'
          : settings.actor.importance_sampling_level,
    ),
  },
  'actor.importance_sampling_level': {
    when: withLoss('vanilla', 'sapo', 'cispo'),
    verl: refused('it has a ratio of the whole response in its loss gspo alone', 'token'),
    trl: TOLD('actor.loss_mode'),
  },
  'actor.clip_ratio_low': { verl: to(`${ACTOR}.clip_ratio_low`), trl: to('epsilon') },
  'actor.clip_ratio_high': { verl: to(`${ACTOR}.clip_ratio_high`), trl: to('epsilon_high') },
  'actor.clip_ratio_c': {
    verl: to(`${ACTOR}.clip_ratio_c`),
    trl: {
      to: 'delta',
      value: (bound: number, { settings }) =>
        settings.actor.loss_mode === 'vanilla' ? bound : undefined,
      expected: (bound: number, { settings: { actor } }) =>
        actor.loss_mode !== 'vanilla' || bound > 1 + actor.clip_ratio_high
          ? undefined
          : 'a number above 1 + clip_ratio_high, because delta holds the ratio before the clip does',
    },
  },
  'actor.tau_pos': {
    when: withLoss('sapo'),
    verl: to(`${ACTOR}.tau_pos`),
    trl: to('sapo_temperature_pos'),
  },
  'actor.tau_neg': {
    when: withLoss('sapo'),
    verl: to(`${ACTOR}.tau_neg`),
    trl: to('sapo_temperature_neg'),
  },
  'actor.policy_loss.dro_beta': {
    when: withLoss('dro'),
    verl: to(`${ACTOR}.policy_loss.dro_beta`),
    verl_0_7: TOLD('actor.loss_mode'),
    trl: TOLD('actor.loss_mode'),
  },
  ...Object.fromEntries(
    (['clip_cov_ratio', 'clip_cov_lb', 'clip_cov_ub', 'kl_cov_ratio', 'ppo_kl_coef'] as const).map(
      (name): [string, Setting] => [
        `actor.policy_loss.${name}`,
        {
          when: withLoss('clip_cov', 'kl_cov'),
          verl: to(`${ACTOR}.policy_loss.${name}`),
          trl: TOLD('actor.loss_mode'),
        },
      ],
    ),
  ),
  'actor.loss_agg_mode': {
    verl: oneOf(`${ACTOR}.loss_agg_mode`, VERL_LOSS_AGG_MODES, inVerl),
    verl_0_7: oneOf(`${ACTOR}.loss_agg_mode`, VERL_0_7_LOSS_AGG_MODES),
    trl: {
      ...oneOf('loss_type', TRL_LOSS_AGG_MODES, (mode: string, { settings, updates }) => {
        const { loss_mode } = settings.actor
        if (loss_mode === 'sapo' || loss_mode === 'vespo') return loss_mode
        if (mode === 'seq-mean-token-mean' || settings.actor.loss_mode === 'gspo') return 'grpo'
        if (mode === 'seq-mean-token-sum') return 'luspo'
        if (dividesByConstant(mode)) return 'dr_grpo'
        // dapo divides by the tokens of the whole generation, bnpo by those of the mini-batch.
        return updates === settings.actor.ppo_epochs ? 'dapo' : 'bnpo'
      }),
      expected: (mode: string, { settings }) =>
        settings.actor.loss_mode === 'vespo' && mode !== 'token-mean'
          ? 'token-mean, which is how its vespo is averaged'
          : undefined,
    },
  },
  'actor.loss_scale_factor': {
    when: ({ settings }) => dividesByConstant(settings.actor.loss_agg_mode),
    verl: to(
      `${ACTOR}.loss_scale_factor`,
      (scale: number | null, { settings }) => scale ?? settings.rollout.max_response_length,
    ),
    bupo: refused('it divides by the longest response', null),
    trl: refused('it divides by the longest response', null),
  },
  'actor.inner.layers': {
    verl: refused('only the whole model’s policy learns there', null),
    trl: refused('only the whole model’s policy learns there', null),
  },
  'actor.inner.*': { verl: TOLD('actor.inner.layers'), trl: TOLD('actor.inner.layers') },
  'actor.entropy_coeff': { verl: to(`${ACTOR}.entropy_coeff`), trl: to('entropy_coef') },
  'actor.use_adaptive_entropy': {
    verl: refused('its entropy bonus has a constant weight', false),
    trl: {
      to: 'use_adaptive_entropy',
      value: (on: boolean) => on || undefined,
      expected: (on: boolean, { updates }) =>
        on && updates > 1
          ? 'false, or one update per step, because TRL changes the weight after every update'
          : undefined,
    },
  },
  'actor.entropy_of': {
    when: ({ settings }) => hasBonus(settings.actor),
    verl: by('the whole model’s policy, which is the one that it trains'),
    bupo: lost(
      'its bonus in the inner phase is of the whole model’s policy, and reaches every layer and the final norm',
      'final',
    ),
    trl: by('the whole model’s policy, which is the one that it trains'),
  },
  'actor.use_kl_loss': { verl: to(`${ACTOR}.use_kl_loss`), trl: TOLD('actor.kl_loss_coef') },
  'actor.kl_loss_coef': {
    verl: to(`${ACTOR}.kl_loss_coef`),
    trl: to('beta', (coef: number, facts) => (withKlLoss(facts) ? coef : 0)),
  },
  'actor.kl_loss_type': {
    when: withKlLoss,
    verl: oneOf(`${ACTOR}.kl_loss_type`, VERL_KL_LOSS_TYPES),
    bupo: oneOf(`${ACTOR}.kl_loss_type`, VERL_KL_PENALTIES),
    trl: oneOf('', TRL_KL_LOSS_TYPES, () => undefined),
  },
  'actor.ppo_micro_batch_size_per_gpu': {
    verl: to(`${ACTOR}.ppo_micro_batch_size_per_gpu`, (wanted: number | null, { settings }) =>
      divisor(settings.actor.ppo_mini_batch_size * settings.rollout.n, wanted),
    ),
    trl: by('one micro-batch for each mini-batch'),
  },
  'actor.use_legacy_worker_impl': {
    verl: lost('it always divides by the whole mini-batch', 'disable'),
    verl_0_7: to('trainer.use_legacy_worker_impl'),
    bupo: by('one micro-batch for each mini-batch'),
    trl: lost('it always divides by the whole mini-batch', 'disable'),
  },
  'actor.grad_clip': {
    verl: to([`${ACTOR}.grad_clip`, `${ACTOR}.optim.clip_grad`], clipOf('actor')),
    bupo: to(`${ACTOR}.grad_clip`),
    trl: to('max_grad_norm', clipOf('actor')),
  },
  ...optimizer('actor.optim', `${ACTOR}.optim`),
}

const CRITIC: Record<string, Setting> = Object.fromEntries(
  Object.entries({
    'critic.critic_warmup': { verl: to('trainer.critic_warmup'), trl: NO_CRITIC },
    'critic.model.init': {
      verl: refused(
        'the critic begins as a copy of the policy (critic/ of a checkpoint apart)',
        'actor',
      ),
      trl: NO_CRITIC,
    },
    'critic.ppo_mini_batch_size': {
      verl: to(
        'critic.ppo_mini_batch_size',
        (own: number | null, { settings }) => own ?? settings.actor.ppo_mini_batch_size,
      ),
      trl: NO_CRITIC,
    },
    'critic.ppo_epochs': {
      verl: to(
        'critic.ppo_epochs',
        (own: number | null, { settings }) => own ?? settings.actor.ppo_epochs,
      ),
      trl: NO_CRITIC,
    },
    'critic.cliprange_value': { verl: to('critic.cliprange_value'), trl: NO_CRITIC },
    'critic.loss_agg_mode': {
      verl: oneOf('critic.loss_agg_mode', VERL_LOSS_AGG_MODES, inVerl),
      verl_0_7: oneOf('critic.loss_agg_mode', VERL_0_7_LOSS_AGG_MODES),
      trl: NO_CRITIC,
    },
    'critic.grad_clip': {
      verl: to(['critic.grad_clip', 'critic.optim.clip_grad'], clipOf('critic')),
      trl: NO_CRITIC,
    },
    ...optimizer('critic.optim', 'critic.optim'),
  } satisfies Record<string, Setting>).map(([path, setting]) => [
    path,
    { ...setting, when: withCritic },
  ]),
)

const correction = (name: string, neutral: boolean | null): Setting => ({
  when: withCorrection,
  verl: to(`${CORRECTION}.${name}`),
  bupo: refused('the fork corrects no rollout', neutral),
  trl: refused(NO_CORRECTION, neutral),
})

const ALGORITHM: Record<string, Setting> = {
  'algorithm.gamma': {
    verl: to('algorithm.gamma'),
    trl: by('no discount, which groups do not use'),
  },
  'algorithm.lam': { verl: to('algorithm.lam'), trl: NO_CRITIC },
  'algorithm.norm_adv_by_std_in_grpo': {
    verl: to('algorithm.norm_adv_by_std_in_grpo'),
    trl: to('scale_rewards', (on: boolean, { phase }) =>
      phase.adv_estimator === BATCH_STD ? 'batch' : on ? 'group' : 'none',
    ),
  },
  'algorithm.norm_adv_epsilon': {
    when: ({ phase, settings }) =>
      phase.adv_estimator === BATCH_STD ||
      (settings.algorithm.norm_adv_by_std_in_grpo && phase.adv_estimator.startsWith('grpo')),
    verl: lost('it adds 1e-6 to the spread of a group', 1e-6),
    trl: lost('it adds 1e-4 to the spread of a group', 1e-4),
  },
  'algorithm.use_kl_in_reward': { verl: to('algorithm.use_kl_in_reward'), trl: NO_KL_REWARD },
  'algorithm.kl_penalty': {
    when: withKlReward,
    verl: oneOf('algorithm.kl_penalty', VERL_KL_PENALTIES),
    trl: TOLD('algorithm.use_kl_in_reward'),
  },
  'algorithm.opd_kl_coef': {
    verl: {
      to: 'distillation.distillation_loss.distillation_loss_coef',
      value: (coef: number) => coef || undefined,
      expected: teacherExpected,
    },
    verl_0_7: refused('its teachers came with 0.9', 0),
    bupo: refused('the fork has no teacher', 0),
    trl: refused('its GRPO has no teacher; GKDTrainer and DistillationTrainer have', 0),
  },
  'algorithm.use_task_rewards': {
    when: ({ settings }) => asksTeacher(settings),
    verl: to('distillation.distillation_loss.use_task_rewards'),
    verl_0_7: TOLD('algorithm.opd_kl_coef'),
    trl: TOLD('algorithm.opd_kl_coef'),
  },
  'algorithm.kl_at_last_token': {
    when: withKlReward,
    verl: refused('it takes each token’s KL off its own reward', false),
    trl: TOLD('algorithm.use_kl_in_reward'),
  },
  ...Object.fromEntries(
    (['type', 'kl_coef', 'target_kl', 'horizon'] as const).map((name): [string, Setting] => [
      `algorithm.kl_ctrl.${name}`,
      {
        when: withKlReward,
        verl: to(`algorithm.kl_ctrl.${name}`),
        trl: TOLD('algorithm.use_kl_in_reward'),
      },
    ]),
  ),
  'algorithm.rollout_correction.bypass_mode': correction('bypass_mode', false),
  'algorithm.rollout_correction.loss_type': {
    when: both(withCorrection, ({ settings }) => settings.algorithm.rollout_correction.bypass_mode),
    verl: oneOf(`${CORRECTION}.loss_type`, ['ppo_clip', 'reinforce']),
    bupo: TOLD('algorithm.rollout_correction.bypass_mode'),
    trl: TOLD('algorithm.rollout_correction.bypass_mode'),
  },
  'algorithm.rollout_correction.rollout_is': correction('rollout_is', null),
  'algorithm.rollout_correction.rollout_is_threshold': {
    when: withCorrection,
    verl: to(
      `${CORRECTION}.rollout_is_threshold`,
      (_: number, { settings }) =>
        engineCorrection(settings.algorithm.rollout_correction).rollout_is_threshold,
    ),
    bupo: TOLD('algorithm.rollout_correction.rollout_is'),
    trl: TOLD('algorithm.rollout_correction.rollout_is'),
  },
  'algorithm.rollout_correction.rollout_is_threshold_lower': {
    when: withCorrection,
    verl: TOLD('algorithm.rollout_correction.rollout_is_threshold'),
    verl_0_7: refused('verl 0.7 has no lower bound of importance weights', null),
    bupo: TOLD('algorithm.rollout_correction.rollout_is'),
    trl: TOLD('algorithm.rollout_correction.rollout_is'),
  },
  'algorithm.rollout_correction.rollout_is_batch_normalize': {
    when: withCorrection,
    verl: to(`${CORRECTION}.rollout_is_batch_normalize`),
    bupo: TOLD('algorithm.rollout_correction.rollout_is'),
    trl: TOLD('algorithm.rollout_correction.rollout_is'),
  },
  'algorithm.rollout_correction.rollout_rs': correction('rollout_rs', null),
  'algorithm.rollout_correction.rollout_rs_threshold': correction('rollout_rs_threshold', null),
  'algorithm.overlong_buffer.len': {
    when: withOverlong,
    verl: to('+reward.reward_kwargs.overlong_buffer_cfg.len'),
    verl_0_7: to('+reward_model.reward_kwargs.overlong_buffer_cfg.len'),
    bupo: to('+reward_model.reward_kwargs.overlong_buffer_cfg.len'),
    trl: refused('its reward is reward.py’s alone', null),
  },
  'algorithm.overlong_buffer.penalty_factor': {
    when: withOverlong,
    verl: to('+reward.reward_kwargs.overlong_buffer_cfg.penalty_factor'),
    verl_0_7: to('+reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor'),
    bupo: to('+reward_model.reward_kwargs.overlong_buffer_cfg.penalty_factor'),
    trl: TOLD('algorithm.overlong_buffer.len'),
  },
  'algorithm.filter_groups.enable': {
    verl: to('algorithm.filter_groups.enable'),
    verl_0_7: refused('dynamic sampling is in main_ppo from 0.9 on', false),
    bupo: refused('the fork has no dynamic sampling', false),
    trl: refused('TRL has no dynamic sampling', false),
  },
  'algorithm.filter_groups.metric': {
    when: withFilter,
    verl: oneOf('algorithm.filter_groups.metric', FILTER_METRICS),
    verl_0_7: TOLD('algorithm.filter_groups.enable'),
    bupo: TOLD('algorithm.filter_groups.enable'),
    trl: TOLD('algorithm.filter_groups.enable'),
  },
  'algorithm.filter_groups.max_num_gen_batches': {
    when: withFilter,
    verl: lost('it draws until the batch is full; a limit on the batches drawn is ignored'),
    bupo: TOLD('algorithm.filter_groups.enable'),
    trl: TOLD('algorithm.filter_groups.enable'),
  },
  'algorithm.shuffle_scores': {
    verl: refused('it has no such control', false),
    trl: refused('it has no such control', false),
  },
  'algorithm.balance_batch': { verl: to('trainer.balance_batch'), trl: by('one process') },
}

const probe = 'it measures no entropies of inner layers'

const MEASURED: Record<string, Setting> = {
  'validation.test_freq': {
    verl: to('trainer.test_freq', (every: number | null) => every ?? -1),
    trl: to('eval_steps', (every: number | null, { updates }) =>
      every === null ? undefined : every * updates,
    ),
  },
  'validation.prompts': {
    verl: by('the rows of data/val.parquet'),
    trl: by('the rows of data/val.parquet'),
  },
  'validation.n': {
    verl: to(`${ROLLOUT}.val_kwargs.n`, (n: number) => Math.max(1, n)),
    trl: lost('held-out prompts are answered as training samples, num_generations times each'),
  },
  'validation.temperature': {
    verl: to(`${ROLLOUT}.val_kwargs.temperature`, (own: number | null, { experiment, settings }) =>
      experiment.validation.n >= 2 ? (own ?? settings.rollout.temperature) : 0,
    ),
    trl: TOLD('validation.n'),
  },
  'validation.val_before_train': {
    verl: to('trainer.val_before_train', (when: string, { experiment }) =>
      when === 'auto' ? experiment.validation.test_freq !== null : when === 'enable',
    ),
    trl: to('eval_on_start', (when: string, { experiment }) =>
      when === 'auto' ? experiment.validation.test_freq !== null : when === 'enable',
    ),
  },
  'validation.log_val_generations': {
    verl: to('trainer.log_val_generations'),
    trl: lost('it keeps no held-out answers', 0),
  },
  'probe.freq': { verl: lost(probe, null), trl: lost(probe, null) },
  'probe.rows': { verl: TOLD('probe.freq'), trl: TOLD('probe.freq') },
  'probe.internals': { verl: TOLD('probe.freq'), trl: TOLD('probe.freq') },
}

const TABLE: Readonly<Record<string, Setting>> = {
  ...RUN,
  ...PHASES,
  ...SAMPLING,
  ...LOSS,
  ...CRITIC,
  ...ALGORITHM,
  ...MEASURED,
}

/** Every field of an experiment by its path in the schema; those of a phase are below
 * phases.<kind>. */
export const SETTINGS: Readonly<Record<string, Setting>> = { ...TABLE, ...DECLARED, ...TABLE }

/** The largest divisor of `whole` up to `most`; `whole` itself where null asks for all. */
export function divisor(whole: number, most: number | null): number {
  if (most === null) return whole
  let found = Math.min(whole, most)
  while (whole % found !== 0) found--
  return found
}
