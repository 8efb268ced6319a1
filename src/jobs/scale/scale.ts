// Scales the settings of an experiment up to a large model: what changes with its size, and what
// is proposed for it. Sources: the script of BuPO for Qwen3-4B and Qwen3-8B on 8 GPUs (batch,
// lengths, learning rate, tokens at once); verl's defaults and the divisions that its
// validate_config asks for. Memory: float32 weights, gradients and two moments of AdamW, 16 bytes a
// parameter.
import type { PhaseSettings } from '../../document/experiment/schema/phase_settings.ts'
import { asksTeacher } from '../../rl/config/algorithm.ts'
import { JobError } from '../settings/job_error.ts'
import type { ChosenPhase } from '../settings/phase_choice.ts'
import type { Target } from '../settings/setting.ts'
import { divisor } from '../settings/settings.ts'
import { knownModel, parametersOf } from './known_models.ts'

/** What a person names. */
export interface Cluster {
  /** On huggingface.co, or a folder on the cluster. */
  readonly model: string
  /** GPUs of one node. */
  readonly gpus: number
  readonly nodes: number
}

/** What a person sees first. */
export const FIRST_CLUSTER: Cluster = { model: 'Qwen/Qwen3-4B', gpus: 8, nodes: 1 }

/** What the size of the model and of the cluster decides. Names are verl's. */
export interface ScaleValues {
  readonly train_batch_size: number
  readonly ppo_mini_batch_size: number
  readonly ppo_micro_batch_size_per_gpu: number
  readonly log_prob_micro_batch_size_per_gpu: number
  readonly max_prompt_length: number
  readonly max_response_length: number
  readonly lr: number
  readonly tensor_model_parallel_size: number
  readonly gpu_memory_utilization: number
  /** 1 = weights and moments wait in the memory of the host while they are not needed. */
  readonly offload: number
  /** Of an inner phase: blocks that are applied. */
  readonly target_layer: number
}

export interface Scale extends Cluster {
  readonly values: ScaleValues
}

/** '2 nodes with 8 GPUs each'. */
export function scaleWords({ gpus, nodes }: Cluster): string {
  const words = `${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`
  return nodes === 1 ? words : `${nodes} nodes with ${words} each`
}

/** Of a job of the lab's own model. */
export const gpuWords = (gpus: 1 | 2): string => (gpus === 1 ? 'one GPU' : 'two GPUs')

export interface Proposal {
  readonly key: keyof ScaleValues
  readonly label: string
  readonly value: number
  readonly why: string
}

const BATCH = 128
const PROMPT = 512
const RESPONSE = 1024
const TOKENS_AT_ONCE = 32_768
/** Of one GPU, in GB: A100 and H100 have so much. */
const MEMORY = 80
const BYTES = { trained: 16, sampled: 2 }
/** Share of the memory that the state of the optimizer may take, and the weights that sample. */
const STATE_SHARE = 0.4
const SAMPLED_SHARE = 0.25

/** What is proposed for a phase on a cluster, each with its reason. The layer only where there is
 * an inner phase. */
export function proposals(chosen: ChosenPhase, layers: number, cluster: Cluster): Proposal[] {
  // A field that is empty for a moment counts as 1; requireScale refuses it.
  const perNode = Math.max(1, cluster.gpus)
  const gpus = perNode * Math.max(1, cluster.nodes)
  return [
    ...batches(chosen.settings, gpus),
    ...lengths(),
    {
      key: 'lr',
      label: 'Learning rate',
      value: 1e-6,
      why: `The usual rate for a pretrained model; ${chosen.settings.actor.optim.lr}, as here, would undo what it knows.`,
    },
    ...memory(parametersOf(cluster.model), perNode, gpus),
    ...innerLayer(chosen, layers, cluster.model),
  ]
}

function batches({ rollout: { n, train_batch_size }, actor }: PhaseSettings, gpus: number) {
  const updates = Math.max(1, Math.round(train_batch_size / actor.ppo_mini_batch_size))
  const mini = Math.ceil(BATCH / updates / gpus) * gpus
  const perGpu = (mini * n) / gpus
  const micro = divisor(perGpu, Math.floor(TOKENS_AT_ONCE / (PROMPT + RESPONSE)))
  return [
    {
      key: 'train_batch_size',
      label: 'Prompts per step',
      value: mini * updates,
      why: `About ${BATCH}, as BuPO trains Qwen3; times ${n} responses it divides by ${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}.`,
    },
    {
      key: 'ppo_mini_batch_size',
      label: 'Mini-batch, prompts',
      value: mini,
      why: `${updates} ${updates === 1 ? 'update' : 'updates'} per batch, as here.`,
    },
    {
      key: 'ppo_micro_batch_size_per_gpu',
      label: 'Responses at once per GPU, training',
      value: micro,
      why: `At most ${TOKENS_AT_ONCE.toLocaleString('en')} tokens, and a divisor of the ${perGpu} responses that each GPU trains on in a mini-batch.`,
    },
    {
      key: 'log_prob_micro_batch_size_per_gpu',
      label: 'Responses at once per GPU, log-probs',
      value: micro,
      why: 'The same: a pass without gradients needs less.',
    },
  ] as const
}

const lengths = () =>
  [
    {
      key: 'max_prompt_length',
      label: 'Prompt, tokens at most',
      value: PROMPT,
      why: 'The chat template and the tokenizer of the model need more than the lab’s letters do.',
    },
    {
      key: 'max_response_length',
      label: 'Response, tokens at most',
      value: RESPONSE,
      why: 'A pretrained model answers in sentences. BuPO gives 3072 to 8192 for competition problems.',
    },
  ] as const

function memory(billions: number | undefined, perNode: number, gpus: number) {
  const state = billions === undefined ? undefined : (billions * BYTES.trained) / gpus
  const needsOffload = state === undefined || state > STATE_SHARE * MEMORY
  const sampled = (billions ?? 0) * BYTES.sampled
  const ways = [1, 2, 4, 8].find((tp) => sampled / tp <= SAMPLED_SHARE * MEMORY) ?? 8
  const size =
    billions === undefined ? 'The size of this model is not known here' : `${billions} B parameters`
  return [
    {
      key: 'tensor_model_parallel_size',
      label: 'GPUs that sample together',
      value: Math.min(ways, perNode),
      why:
        billions === undefined
          ? `${size}: raise it where the weights do not fit one GPU.`
          : `${size} take ${rounded(sampled)} GB in bfloat16.`,
    },
    {
      key: 'gpu_memory_utilization',
      label: 'GPU memory for sampling',
      value: needsOffload ? 0.6 : 0.5,
      why: needsOffload
        ? 'BuPO’s value; training waits outside meanwhile.'
        : 'verl’s default; the rest is for training.',
    },
    {
      key: 'offload',
      label: 'Offload to the host',
      value: needsOffload ? 1 : 0,
      why:
        state === undefined
          ? `${size}: the safe choice, and the slower one.`
          : `Weights, gradients and moments take ${rounded(state)} GB on each GPU; above ${STATE_SHARE * MEMORY} of ${MEMORY} GB they are offloaded.`,
    },
  ] as const
}

const rounded = (gb: number): string => (gb < 10 ? gb.toFixed(1) : `${Math.round(gb)}`)

function innerLayer({ inner }: ChosenPhase, layers: number, model: string): Proposal[] {
  if (!inner) return []
  const deep = knownModel(model)?.num_hidden_layers
  const share = inner.layer / layers
  const percent = `${Math.round(100 * share)} % of the depth`
  const value =
    deep === undefined ? inner.layer : Math.min(deep - 1, Math.max(1, Math.round(share * deep)))
  const why =
    deep === undefined
      ? `The depth of this model is not known here: set the layer that is at ${percent}.`
      : `Layer ${inner.layer} of ${layers} is at ${percent}: of ${deep} layers that is ${value}. BuPO trains layer 6 of 36 in Qwen3.`
  return [{ key: 'target_layer', label: 'Inner layer', value, why }]
}

/** The values of proposals, with those that a person changed. */
export function scaleValues(
  proposed: readonly Proposal[],
  own: Partial<ScaleValues> = {},
): ScaleValues {
  const values = Object.fromEntries(proposed.map(({ key, value }) => [key, value]))
  return { target_layer: 1, ...values, ...own } as ScaleValues
}

/** Throws JobError where verl would stop, or the model cannot be what is meant. */
export function requireScale(scale: Scale, target: Target, { settings, inner }: ChosenPhase): void {
  if (target === 'trl')
    throw new JobError('A job for several GPUs is written for verl and BuPO’s fork, not for TRL')
  if (asksTeacher(settings))
    throw new JobError(
      'algorithm.opd_kl_coef: the teacher of a large model is another large model, which the lab does not have; set it to 0, or export the lab’s own model',
    )
  const { model, gpus, nodes, values } = scale
  const { train_batch_size: train, ppo_mini_batch_size: mini } = values
  const { n } = settings.rollout
  const all = gpus * nodes
  const micro = values.ppo_micro_batch_size_per_gpu
  const known = knownModel(model)
  const whole = Object.entries(values).filter(
    ([key, value]) =>
      !['lr', 'gpu_memory_utilization', 'offload'].includes(key) &&
      !(Number.isInteger(value) && value > 0),
  )
  const wrong = [
    [model.trim() === '', 'model: expected a name, found nothing'],
    [
      !(Number.isInteger(all) && gpus > 0 && nodes > 0),
      `GPUs: expected whole numbers from 1, found ${gpus} on ${nodes} nodes`,
    ],
    [
      inner?.decaysFinalNorm && all < 2,
      `GPUs: expected at least 2, because decay_final_norm is what FSDP 1 does on several, found ${all}`,
    ],
    ...whole.map(([key, value]) => [
      true,
      `${key}: expected a whole number from 1, found ${value}`,
    ]),
    [
      mini > train,
      `ppo_mini_batch_size: expected at most the ${train} prompts of a step, found ${mini}`,
    ],
    [
      (train * n) % all > 0,
      `train_batch_size: expected that ${train} prompts times ${n} responses divide by ${all} GPUs`,
    ],
    [
      ((mini * n) / all) % micro > 0,
      `ppo_micro_batch_size_per_gpu: expected a divisor of ${(mini * n) / all} (mini-batch times responses per prompt, by GPUs), found ${micro}`,
    ],
    [
      gpus % values.tensor_model_parallel_size > 0,
      `tensor_model_parallel_size: expected a divisor of ${gpus}, the GPUs of a node, found ${values.tensor_model_parallel_size}`,
    ],
    [
      !(values.gpu_memory_utilization > 0 && values.gpu_memory_utilization < 1),
      `gpu_memory_utilization: expected between 0 and 1, found ${values.gpu_memory_utilization}`,
    ],
    [!(values.lr > 0), `lr: expected more than 0, found ${values.lr}`],
    [
      inner && known && values.target_layer >= known.num_hidden_layers,
      `target_layer: expected less than ${known?.num_hidden_layers}, the layers of ${known?.name}, found ${values.target_layer}`,
    ],
    [
      inner && known?.model_type === 'qwen2',
      `model: ${known?.name} is of the family qwen2; BuPO’s fork reads inner layers of qwen3 and llama`,
    ],
  ].flatMap(([isWrong, why]) => (isWrong ? [`${why}`] : []))
  if (wrong.length > 0) throw new JobError(wrong.join('; '))
}

/** What a person should know before the start: the settings mean something else there. */
export const SCALE_NOTES = [
  'Problems and reward stay the lab’s: short prompts without instructions, and only the exact answer scores. Put your own rows and reward in their place.',
  'What was found on a toy is a guess here: a target layer is carried over as a share of the depth, and entropies are those of a larger vocabulary.',
  'A pretrained model begins with skills that the warm start gives here, so no warm start is in the job.',
] as const
