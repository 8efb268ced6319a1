// Writes the command line of verl and of BuPO's fork: what the table of settings says, and what a
// job sets whatever its experiment is.

import { hasCritic } from '../document/experiment/schema/phase_settings.ts'
import { asksTeacher } from '../rl/config/algorithm.ts'
import type { Task } from '../tasks/task/task.ts'
import { type Carried, carry, type Note } from './settings/carry.ts'
import type { ChosenPhase } from './settings/phase_choice.ts'
import type { JobFacts, JobPath, VerlValue, VerlVersion } from './settings/setting.ts'
import { divisor } from './settings/settings.ts'
import { teacherArguments, teacherDifferences } from './teacher_arguments.ts'
import { TOOLS_FILE } from './tools/tool_files.ts'

export interface VerlCommand extends Pick<Carried, 'lost' | 'refused'> {
  /** Every argument once. A name with + is one that verl's own file of defaults leaves out. */
  readonly arguments: ReadonlyMap<string, VerlValue>
}

/** The job that the arguments are for. */
export interface VerlJob {
  readonly facts: JobFacts
  readonly chosen: ChosenPhase
  readonly task: Task
  /** Rows of data/train.parquet. */
  readonly rows: number
  /** Whether the folder holds a critic of its own. */
  readonly hasCriticFolder: boolean
}

const MODEL = 'actor_rollout_ref.model'
const ACTOR = 'actor_rollout_ref.actor'
const ROLLOUT = 'actor_rollout_ref.rollout'
const REF = 'actor_rollout_ref.ref'
const inJob = (path: string): JobPath => ({ in_job: path })

/** What has a name there and is not quite the same. */
function differences({ facts }: VerlJob): Note[] {
  const { experiment, settings } = facts
  const { n } = experiment.validation
  const answers = n >= 2 ? 'sampled, and not greedily too' : 'greedily, and not sampled too'
  return [
    ...(n > 0
      ? [{ path: 'validation.n', value: n, why: `held-out prompts are answered ${answers}` }]
      : []),
    ...(settings.actor.loss_agg_mode === 'seq-mean-token-sum-norm'
      ? [
          {
            path: 'actor.loss_agg_mode',
            value: settings.actor.loss_agg_mode,
            why: 'since 0.7.1 verl divides by the number of responses too, so gradients are smaller by that factor; AdamW undoes it, the gradient clip does not',
          },
        ]
      : []),
    ...teacherDifferences(facts),
  ]
}

/** The command of verl for a version of it. */
export function verlCommand(job: VerlJob, version: VerlVersion): VerlCommand {
  const { lost, refused, arguments: carried } = carry(job.facts, 'verl', version)
  const isOld = version === '0.7'
  const fixed: Record<string, VerlValue> = {
    ...common(job),
    ...reward(job, isOld ? 'old' : 'new'),
    ...(needsReference(job) && { [`${REF}.fsdp_config.dtype`]: 'float32' }),
    [`${ACTOR}.fsdp_config.dtype`]: 'float32',
    [`${ROLLOUT}.dtype`]: 'bfloat16',
    ...(hasCritic(job.facts.settings) && {
      ...criticOf(job),
      [isOld ? 'critic.model.fsdp_config.dtype' : 'critic.fsdp.dtype']: 'float32',
    }),
    ...withoutFlashAttention(job),
    ...(asksTeacher(job.facts.settings) && teacherArguments(job.facts.settings)),
    ...(hasTurns(job) && !isOld && toolLoop()),
    ...(!isOld && { 'trainer.use_v1': true }),
    ...(job.facts.experiment.model.lora.r > 0 && {
      [`${MODEL}.lora_adapter_path`]: inJob('adapter'),
    }),
    'data.train_max_samples': -1,
    'data.return_raw_chat': true,
    'trainer.logger': ['console', 'file'],
  }
  const told = [...lost, ...differences(job)]
  return { lost: told, refused, arguments: new Map([...Object.entries(fixed), ...carried]) }
}

/** The command of the fork: layer k of the lab is its internal_layer k − 1, because it counts from
 * the first block's output. */
export function bupoCommand(job: VerlJob): VerlCommand {
  const { lost, refused, arguments: carried } = carry(job.facts, 'bupo', '0.7')
  const { inner } = job.chosen
  const hasReference = needsReference(job)
  if (!inner) throw new RangeError('bupoCommand: expected a job with an inner phase')
  // FSDP 1 on one rank never trains the last layer again after the first update of an inner layer;
  // on several it decays the final norm.
  const strategy = inner.decaysFinalNorm ? 'fsdp' : 'fsdp2'
  const fixed: Record<string, VerlValue> = {
    ...common(job),
    ...reward(job, 'fork'),
    [`${ROLLOUT}.dtype`]: 'bfloat16',
    // Its path through an inner layer exists for unpadded batches alone, so flash-attention is
    // needed.
    [`${MODEL}.use_remove_padding`]: true,
    [`${ACTOR}.internal_policy_interative`]: true,
    [`${ACTOR}.internal_layer`]: inner.layer - 1,
    [`${ACTOR}.iterative_steps`]: inner.steps,
    [`${MODEL}.override_config.internal_layer`]: inner.layer - 1,
    // Its configuration of the reference lacks them, and the worker asks for them.
    ...(hasReference && {
      [`+${REF}.internal_policy_interative`]: true,
      [`+${REF}.internal_layer`]: inner.layer - 1,
      [`+${REF}.iterative_steps`]: inner.steps,
      [`${REF}.strategy`]: strategy,
    }),
    [`${ACTOR}.strategy`]: strategy,
    ...(hasCritic(job.facts.settings) && { 'critic.strategy': strategy }),
    'trainer.logger': ['console'],
  }
  const own = new Map([...Object.entries(fixed), ...carried])
  if (!inner.decaysFinalNorm) return { lost, refused, arguments: own }
  own.set(`${ACTOR}.ppo_micro_batch_size_per_gpu`, microBatch(job))
  return { lost: [...lost, ofSeveral(job)], refused: [...refused, ...uneven(job)], arguments: own }
}

/** A mini-batch that two GPUs cannot share. */
function uneven({ facts: { settings } }: VerlJob): Note[] {
  const responses = settings.actor.ppo_mini_batch_size * settings.rollout.n
  const why = `with decay_final_norm two GPUs share the ${responses} responses of a mini-batch, expected an even number`
  const path = 'actor.ppo_mini_batch_size'
  return responses % 2 === 0 ? [] : [{ path, value: settings.actor.ppo_mini_batch_size, why }]
}

/** What an update on several GPUs means there. */
const ofSeveral = ({ facts: { settings } }: VerlJob): Note => ({
  path: 'actor.loss_agg_mode',
  value: settings.actor.loss_agg_mode,
  why: 'each GPU divides the loss of its own responses, and the mean of their gradients is taken',
})

const hasTurns = ({ facts: { settings } }: VerlJob): boolean =>
  (settings.rollout.max_turns ?? 1) > 1

/** Rows talk with the tools of tools.py. */
const toolLoop = (): Record<string, VerlValue> => ({
  [`${ROLLOUT}.multi_turn.enable`]: true,
  [`${ROLLOUT}.multi_turn.format`]: 'hermes',
  [`${ROLLOUT}.multi_turn.function_tool_path`]: inJob(TOOLS_FILE),
  [`${ROLLOUT}.agent.default_agent_loop`]: 'tool_agent',
})

const needsReference = ({ facts: { settings } }: VerlJob): boolean =>
  settings.actor.use_kl_loss || settings.algorithm.use_kl_in_reward

/** GPUs that train the lab's own model: one, but for what only several do. */
const trainingGpus = ({ inner }: ChosenPhase): 1 | 2 => (inner?.decaysFinalNorm ? 2 : 1)

/** GPUs of a job of the lab's own model: another model that teaches is served on one of its own. */
export const gpusOf = (chosen: ChosenPhase): 1 | 2 =>
  asksTeacher(chosen.settings) ? 2 : trainingGpus(chosen)

/** Responses that go through the model at once on each GPU. */
const microBatch = ({ facts: { settings }, chosen }: VerlJob): number =>
  divisor(
    (settings.actor.ppo_mini_batch_size * settings.rollout.n) / trainingGpus(chosen),
    settings.actor.ppo_micro_batch_size_per_gpu,
  )

/** What every version needs; on one GPU where nothing asks for several. */
function common(job: VerlJob): Record<string, VerlValue> {
  const { task, facts } = job
  const { experiment, settings, steps } = facts
  const micro = microBatch(job)
  const perEpoch = Math.max(1, Math.floor(job.rows / settings.rollout.train_batch_size))
  return {
    'data.train_files': inJob('data/train.parquet'),
    'data.val_files': inJob('data/val.parquet'),
    'data.prompt_key': 'prompt',
    'data.max_prompt_length': task.max_prompt_length,
    'data.filter_overlong_prompts': true,
    'data.truncation': 'error',
    [`${MODEL}.path`]: inJob('model'),
    [`${ROLLOUT}.name`]: 'vllm',
    [`${ROLLOUT}.load_format`]: 'safetensors',
    [`${ROLLOUT}.tensor_model_parallel_size`]: 1,
    [`${ROLLOUT}.gpu_memory_utilization`]: 0.4,
    [`${ROLLOUT}.log_prob_micro_batch_size_per_gpu`]: micro,
    [`${ROLLOUT}.agent.num_workers`]: 1,
    [`${ROLLOUT}.val_kwargs.do_sample`]: experiment.validation.n >= 2,
    ...(needsReference(job) && { [`${REF}.log_prob_micro_batch_size_per_gpu`]: micro }),
    'trainer.project_name': 'understory',
    'trainer.n_gpus_per_node': trainingGpus(job.chosen),
    'trainer.nnodes': 1,
    'trainer.save_freq': steps,
    'trainer.total_epochs': epochs(facts, perEpoch),
    'trainer.default_local_dir': inJob('checkpoints'),
    'trainer.resume_mode': 'auto',
  }
}

/** Passes over the rows that the steps need; dynamic sampling draws several batches a step. */
function epochs({ steps, settings }: JobFacts, perEpoch: number): number {
  const { enable, max_num_gen_batches } = settings.algorithm.filter_groups
  return Math.ceil(steps / perEpoch) * (enable ? max_num_gen_batches : 1)
}

function criticOf(job: VerlJob): Record<string, VerlValue> {
  return {
    'critic.model.path': inJob(job.hasCriticFolder ? 'critic' : 'model'),
    'critic.model.enable_gradient_checkpointing':
      job.facts.experiment.model.enable_gradient_checkpointing,
    'critic.ppo_micro_batch_size_per_gpu': microBatch(job),
    'critic.shuffle': job.facts.settings.actor.shuffle,
  }
}

/** Attention of PyTorch itself: a toy model gains nothing from flash-attention, which not every GPU
 * has. */
const withoutFlashAttention = ({ facts: { settings } }: VerlJob): Record<string, VerlValue> =>
  Object.fromEntries(
    [MODEL, ...(hasCritic(settings) ? ['critic.model'] : [])].flatMap((model) => [
      [`${model}.use_remove_padding`, false],
      [`+${model}.override_config.attn_implementation`, 'sdpa'],
    ]),
  )

/** Where the reward function is named: verl moved these keys, and does not complain about old
 * ones. */
function reward(
  { facts: { settings } }: VerlJob,
  keys: 'new' | 'old' | 'fork',
): Record<string, VerlValue> {
  const { len } = settings.algorithm.overlong_buffer
  const manager = len !== null ? 'dapo' : 'naive'
  const isNew = keys === 'new'
  const kwargs = `${isNew ? '+reward' : '+reward_model'}.reward_kwargs`
  const at = isNew ? 'reward.' : ''
  return {
    [`${at}custom_reward_function.path`]: inJob('reward.py'),
    [`${at}custom_reward_function.name`]: 'compute_score',
    [isNew ? 'reward.reward_manager.name' : 'reward_model.reward_manager']: manager,
    ...(keys !== 'fork' && { [`${isNew ? 'reward' : 'reward_model'}.num_workers`]: 1 }),
    ...(len !== null && {
      [`${kwargs}.max_resp_len`]: settings.rollout.max_response_length,
      [`${kwargs}.overlong_buffer_cfg.enable`]: true,
      [`${kwargs}.overlong_buffer_cfg.log`]: false,
    }),
  }
}
