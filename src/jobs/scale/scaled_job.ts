// Puts a scale into a job: settings that rows and updates follow from, arguments that name the
// model and the GPUs, and files that start it.
import type { PhaseSettings } from '../../document/experiment/schema/phase_settings.ts'
import type { VerlValue } from '../settings/setting.ts'
import type { Scale } from './scale.ts'

/** Critics learn ten times as fast as the policy: verl's own example has 1e-5 beside 1e-6. */
const CRITIC_FACTOR = 10

/** The settings of the phase, with the batches, the length and the rates of the scale. */
export function scaledSettings(settings: PhaseSettings, { values }: Scale): PhaseSettings {
  const { train_batch_size, max_response_length, ppo_mini_batch_size, lr } = values
  const { ppo_micro_batch_size_per_gpu } = values
  const { rollout, actor, critic } = settings
  return {
    ...settings,
    rollout: { ...rollout, train_batch_size, max_response_length },
    actor: {
      ...actor,
      ppo_mini_batch_size,
      ppo_micro_batch_size_per_gpu,
      optim: { ...actor.optim, lr },
    },
    // Its mini-batch is a number of the toy's batch; 0 = as the actor's.
    critic: {
      ...critic,
      ppo_mini_batch_size: 0,
      optim: { ...critic.optim, lr: lr * CRITIC_FACTOR },
    },
  }
}

const MODEL = 'actor_rollout_ref.model'
const ACTOR = 'actor_rollout_ref.actor'
const ROLLOUT = 'actor_rollout_ref.rollout'
const REF = 'actor_rollout_ref.ref'

/** The arguments of a job of the toy model, for another model on several GPUs. Large models gain
 * from flash-attention. */
export function scaledArguments(
  given: ReadonlyMap<string, VerlValue>,
  { model, gpus, nodes, values }: Scale,
  rolloutN: number,
): ReadonlyMap<string, VerlValue> {
  const has = (key: string) => given.has(key)
  const micro = values.ppo_micro_batch_size_per_gpu
  const logProb = values.log_prob_micro_batch_size_per_gpu
  const offload = values.offload > 0
  const withCritic = has('critic.model.path')
  const criticFsdp = has('critic.fsdp.dtype') ? 'critic.fsdp' : 'critic.model.fsdp_config'
  const changes: Record<string, VerlValue> = {
    [`${MODEL}.path`]: model.trim(),
    [`${MODEL}.use_remove_padding`]: true,
    [`${MODEL}.enable_gradient_checkpointing`]: true,
    'data.max_prompt_length': values.max_prompt_length,
    [`${ACTOR}.ppo_micro_batch_size_per_gpu`]: micro,
    [`${ACTOR}.fsdp_config.param_offload`]: offload,
    [`${ACTOR}.fsdp_config.optimizer_offload`]: offload,
    [`${ROLLOUT}.log_prob_micro_batch_size_per_gpu`]: logProb,
    [`${ROLLOUT}.tensor_model_parallel_size`]: values.tensor_model_parallel_size,
    [`${ROLLOUT}.gpu_memory_utilization`]: values.gpu_memory_utilization,
    'trainer.n_gpus_per_node': gpus,
    'trainer.nnodes': nodes,
    ...(has(`${ACTOR}.fsdp_config.dtype`) && { [`${ACTOR}.fsdp_config.dtype`]: 'bfloat16' }),
    ...(has(`${REF}.fsdp_config.dtype`) && { [`${REF}.fsdp_config.dtype`]: 'bfloat16' }),
    ...(has(`${REF}.log_prob_micro_batch_size_per_gpu`) && {
      [`${REF}.log_prob_micro_batch_size_per_gpu`]: logProb,
      [`${REF}.fsdp_config.param_offload`]: offload,
    }),
    ...(withCritic && {
      'critic.model.path': model.trim(),
      'critic.model.use_remove_padding': true,
      'critic.model.enable_gradient_checkpointing': true,
      'critic.ppo_micro_batch_size_per_gpu': micro,
      [`${criticFsdp}.dtype`]: 'bfloat16',
      [`${criticFsdp}.param_offload`]: offload,
      [`${criticFsdp}.optimizer_offload`]: offload,
    }),
    ...(has(`${ACTOR}.internal_layer`) && {
      [`${ACTOR}.internal_layer`]: values.target_layer - 1,
      [`${MODEL}.override_config.internal_layer`]: values.target_layer - 1,
    }),
    ...workers(values.train_batch_size * rolloutN, has),
  }
  const toy = /override_config\.attn_implementation$/
  const kept = [...given].filter(([key]) => !toy.test(key))
  return new Map([...kept, ...Object.entries(changes)])
}

/** Those that hand out prompts share the responses of a step evenly. */
function workers(responses: number, has: (key: string) => boolean): Record<string, number> {
  const agents = [8, 4, 2].find((count) => responses % count === 0) ?? 1
  return {
    [`${ROLLOUT}.agent.num_workers`]: agents,
    ...(has('reward.num_workers') && { 'reward.num_workers': 8 }),
    ...(has('reward_model.num_workers') && { 'reward_model.num_workers': 8 }),
  }
}

/** What starts one node: files for SkyPilot and SLURM. */
interface Starters {
  readonly sky: string
  readonly slurm: string
}

/** Those of a job of the toy model. */
export const onGpus = ({ sky, slurm }: Starters, gpus: 1 | 2): Starters =>
  gpus === 1
    ? { sky, slurm }
    : {
        sky: sky.replace('One GPU', 'Two GPUs').replace('"L4:1"', '"L4:2"'),
        slurm: slurm.replace('One GPU', 'Two GPUs').replace('--gpus=1', '--gpus=2'),
      }

/** Several nodes are one Ray cluster, which the files do not start. */
export function scaledStarters(
  { gpus, nodes }: Scale,
  { sky, slurm }: Starters,
): Starters | undefined {
  if (nodes > 1) return undefined
  const words = `${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`
  return {
    sky: sky
      .replace('One GPU', words)
      .replace('"L4:1"', `"H100:${gpus}"`)
      .replace('disk_size: 100', 'disk_size: 500'),
    slurm: slurm.replace('One GPU', words).replace('--gpus=1', `--gpus=${gpus}`),
  }
}
