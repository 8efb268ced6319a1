// Every field of the experiment document: its default, range, unit and one sentence of help. The only home of each.
import * as z from 'zod/mini'
import type { Actor, Algorithm, Optim, Probe, Rollout, Validation } from '../rl/phase.ts'
import { TASKS } from '../tasks/index.ts'
import type { TaskKind } from '../tasks/task.ts'
import {
  boolean,
  filled,
  integer,
  type Leaf,
  number,
  type Overrides,
  oneOf,
  partial,
  select,
  show,
  type Tree,
  text,
} from './fields.ts'

/** The task's id and its parameters, e.g. { id: 'sort_digits', digits: 6 }. */
export interface TaskChoice {
  readonly id: string
  readonly [param: string]: string | number
}

/** Hugging Face `config.json` names. */
export interface ModelFields {
  readonly model_type: 'qwen3'
  readonly hidden_size: number
  readonly num_hidden_layers: number
  readonly num_attention_heads: number
  readonly num_key_value_heads: number
  readonly head_dim: number
  readonly intermediate_size: number
  readonly tie_word_embeddings: boolean
  readonly rms_norm_eps: number
  readonly rope_theta: number
  /** verl's `model.enable_gradient_checkpointing`. */
  readonly enable_gradient_checkpointing: boolean
}

/** Of the actor, what an experiment can set; the rest has verl's defaults (rl/phase.ts). */
export type ActorFields = Pick<
  Actor,
  | 'ppo_mini_batch_size'
  | 'ppo_epochs'
  | 'clip_ratio_low'
  | 'clip_ratio_high'
  | 'clip_ratio_c'
  | 'entropy_coeff'
  | 'grad_clip'
  | 'optim'
> & { readonly loss_mode: 'vanilla'; readonly loss_agg_mode: 'token-mean' }

export type AlgorithmFields = Pick<Algorithm, 'norm_adv_by_std_in_grpo'>

interface SftFields {
  /** '' = named after what it does. */
  readonly name: string
  readonly steps: number
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Optim
}

interface RlFields {
  /** '' = named after the layer it trains. */
  readonly name: string
  readonly steps: number
  readonly adv_estimator: 'grpo'
}

export interface SftDocument extends SftFields {
  readonly kind: 'sft'
}

/** A phase of reinforcement learning; what it does not set itself it takes from the experiment. */
export interface RlDocument extends RlFields {
  readonly kind: 'rl'
  /** 1…L−1 = an inner layer's policy; 'final' = the model's own. */
  readonly target_layer: number | 'final'
  readonly rollout?: Overrides<Rollout> | undefined
  readonly actor?: Overrides<ActorFields> | undefined
  readonly algorithm?: Overrides<AlgorithmFields> | undefined
}

export type PhaseDocument = SftDocument | RlDocument

/** The experiment document, version 1, with every default filled in. */
export interface Experiment {
  readonly version: 1
  readonly name: string
  readonly seed: number
  readonly task: TaskChoice
  readonly model: ModelFields
  readonly phases: readonly PhaseDocument[]
  readonly rollout: Rollout
  readonly actor: ActorFields
  readonly algorithm: AlgorithmFields
  readonly validation: Validation
  readonly probe: Probe
}

export const EXPERIMENT_VERSION = 1
export const MAX_PHASES = 8
export const MAX_LAYERS = 16

const gradClip = number({
  label: 'Gradient clip',
  help: 'The largest global norm a gradient may have; a larger one is scaled down to it.',
  default: 1,
  min: 0.01,
  max: 100,
  step: 0.1,
  scale: 'log',
})

const optim = (lr: number, lr_warmup_steps: number, weight_decay: number): Tree<Optim> => ({
  lr: number({
    label: 'Learning rate',
    help: 'The peak step size of AdamW; too large a value breaks a run for good.',
    default: lr,
    min: 0.000001,
    max: 0.1,
    scale: 'log',
  }),
  lr_warmup_steps: integer({
    label: 'Warm-up',
    help: 'Steps in which the learning rate rises from 0 to its peak.',
    default: lr_warmup_steps,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  lr_scheduler_type: select(
    { label: 'Schedule', help: 'What the learning rate does after the warm-up.' },
    { constant: 'constant', cosine: 'cosine decay' },
  ),
  min_lr_ratio: number({
    label: 'Lowest rate',
    help: 'Where the cosine schedule ends, as a share of the peak.',
    default: 0,
    min: 0,
    max: 1,
    step: 0.05,
    unit: 'share of the peak',
  }),
  betas: [
    number({
      label: 'Beta 1',
      help: 'How long AdamW remembers past gradients.',
      default: 0.9,
      min: 0,
      max: 0.9999,
      step: 0.01,
    }),
    number({
      label: 'Beta 2',
      help: 'How long AdamW remembers past squared gradients.',
      default: 0.95,
      min: 0,
      max: 0.9999,
      step: 0.01,
    }),
  ],
  weight_decay: number({
    label: 'Weight decay',
    help: 'How strongly AdamW pulls weights towards 0, per unit of learning rate.',
    default: weight_decay,
    min: 0,
    max: 1,
    step: 0.01,
  }),
})

export const MODEL: Tree<ModelFields> = {
  model_type: select(
    { label: 'Architecture', help: 'Which family of transformer the blocks follow.' },
    { qwen3: 'Qwen3' },
  ),
  hidden_size: integer({
    label: 'Width',
    help: 'Channels of the residual stream.',
    default: 64,
    min: 8,
    max: 1024,
    step: 8,
    unit: 'channels',
  }),
  num_hidden_layers: integer({
    label: 'Layers',
    help: 'Blocks of attention and feed-forward; each one has a policy of its own to look at.',
    default: 6,
    min: 1,
    max: MAX_LAYERS,
    unit: 'layers',
  }),
  num_attention_heads: integer({
    label: 'Attention heads',
    help: 'Query heads of every layer.',
    default: 4,
    min: 1,
    max: 32,
    unit: 'heads',
  }),
  num_key_value_heads: integer({
    label: 'Key-value heads',
    help: 'Heads that keys and values are computed for; fewer than query heads = grouped attention.',
    default: 4,
    min: 1,
    max: 32,
    unit: 'heads',
  }),
  head_dim: integer({
    label: 'Head width',
    help: 'Channels of one head; even, because rotary positions turn channels in pairs.',
    default: 16,
    min: 2,
    max: 128,
    step: 2,
    unit: 'channels',
  }),
  intermediate_size: integer({
    label: 'Feed-forward width',
    help: 'Channels inside the feed-forward part of every layer.',
    default: 168,
    min: 8,
    max: 4096,
    step: 8,
    unit: 'channels',
  }),
  tie_word_embeddings: boolean({
    label: 'Tied embeddings',
    help: 'Whether one matrix both reads tokens in and scores tokens out.',
    default: true,
  }),
  rms_norm_eps: number({
    label: 'Norm epsilon',
    help: 'Added under the square root of every norm, so that it never divides by 0.',
    default: 0.000001,
    min: 1e-8,
    max: 0.01,
    scale: 'log',
  }),
  rope_theta: number({
    label: 'Rotary base',
    help: 'Base of the rotary position angles; larger = slower turning.',
    default: 10000,
    min: 10,
    max: 10000000,
    scale: 'log',
  }),
  enable_gradient_checkpointing: boolean({
    label: 'Recompute activations',
    help: 'Whether the backward pass computes activations again instead of keeping them: less memory, more time, same numbers.',
    default: false,
  }),
}

const phaseName = text({
  label: 'Name',
  help: 'What charts call this phase; empty = named after what it trains.',
  default: '',
  max: 40,
})

const steps = (count: number) =>
  integer({
    label: 'Steps',
    help: 'How many training steps this phase lasts.',
    default: count,
    min: 1,
    max: 100000,
    unit: 'steps',
    scale: 'log',
  })

export const SFT: Tree<SftFields> = {
  name: phaseName,
  steps: steps(400),
  batch_size: integer({
    label: 'Batch',
    help: 'Demonstrations per step.',
    default: 256,
    min: 1,
    max: 4096,
    unit: 'demonstrations',
    scale: 'log',
  }),
  grad_clip: gradClip,
  optim: optim(0.003, 50, 0.01),
}

export const RL: Tree<RlFields> = {
  name: phaseName,
  steps: steps(120),
  adv_estimator: select(
    {
      label: 'Advantage estimator',
      help: 'How rewards become advantages; GRPO compares the responses to one prompt.',
    },
    { grpo: 'GRPO' },
  ),
}

/** What `target_layer` is in forms; its options depend on the number of layers (experiment.ts). */
export const TARGET_LAYER = {
  label: 'Trained policy',
  help: 'Whose policy is trained: the one an inner layer already holds, or the whole model’s.',
  unit: 'layers applied',
  kind: 'select',
  default: 'final',
  live: false,
} as const

export const ROLLOUT: Tree<Rollout> = {
  train_batch_size: integer({
    label: 'Prompts per step',
    help: 'Different problems that every step tries.',
    default: 32,
    min: 1,
    max: 1024,
    unit: 'prompts',
    scale: 'log',
  }),
  n: integer({
    label: 'Responses per prompt',
    help: 'Size of the group whose rewards are compared with each other.',
    default: 8,
    min: 1,
    max: 64,
    unit: 'responses',
  }),
  temperature: number({
    label: 'Temperature',
    help: 'Divides the logits before sampling; above 1 = more varied, below 1 = more cautious.',
    default: 1,
    min: 0.05,
    max: 5,
    step: 0.05,
  }),
  top_p: number({
    label: 'Top p',
    help: 'Samples only from the likeliest tokens that make up this share; 1 = off.',
    default: 1,
    min: 0.01,
    max: 1,
    step: 0.01,
    unit: 'share',
  }),
  top_k: integer({
    label: 'Top k',
    help: 'Samples only from this many likeliest tokens; -1 = off.',
    default: -1,
    min: -1,
    max: 1000,
    unit: 'tokens',
  }),
  max_response_length: integer({
    label: 'Longest response',
    help: 'Tokens generated at most, end token included; the task sets the least.',
    default: 8,
    min: 1,
    max: 128,
    unit: 'tokens',
  }),
}

export const ACTOR: Tree<ActorFields> = {
  ppo_mini_batch_size: integer({
    label: 'Mini-batch',
    help: 'Prompts per optimizer step; half of the prompts per step = two updates per batch.',
    default: 16,
    min: 1,
    max: 1024,
    unit: 'prompts',
    scale: 'log',
  }),
  ppo_epochs: integer({
    label: 'Epochs',
    help: 'How often every batch is gone through.',
    default: 1,
    min: 1,
    max: 8,
    unit: 'epochs',
  }),
  clip_ratio_low: number({
    label: 'Clip, downwards',
    help: 'How far below 1 the probability ratio may fall before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 0.99,
    step: 0.01,
  }),
  clip_ratio_high: number({
    label: 'Clip, upwards',
    help: 'How far above 1 the probability ratio may rise before it stops being rewarded.',
    default: 0.2,
    min: 0.001,
    max: 10,
    step: 0.01,
  }),
  clip_ratio_c: number({
    label: 'Dual clip',
    help: 'Bounds the loss of a bad response whose probability has grown, as a multiple of its advantage.',
    default: 3,
    min: 1.001,
    max: 100,
    step: 0.5,
  }),
  loss_mode: select(
    { label: 'Loss', help: 'Which policy-gradient loss is minimised.' },
    { vanilla: 'PPO, clipped' },
  ),
  loss_agg_mode: select(
    { label: 'Averaging', help: 'How the losses of single tokens become one number.' },
    { 'token-mean': 'mean over tokens' },
  ),
  entropy_coeff: number({
    label: 'Entropy bonus',
    help: 'Weight of the entropy that is added to the objective; 0 = off.',
    default: 0,
    min: 0,
    max: 1,
    step: 0.001,
  }),
  grad_clip: gradClip,
  optim: optim(0.0001, 10, 0),
}

export const ALGORITHM: Tree<AlgorithmFields> = {
  norm_adv_by_std_in_grpo: boolean({
    label: 'Normalise by spread',
    help: 'Whether a group’s advantages are divided by the standard deviation of its rewards.',
    default: true,
  }),
}

export const VALIDATION: Tree<Validation> = {
  test_freq: integer({
    label: 'Every',
    help: 'Steps between two evaluations on held-out problems; 0 = never.',
    default: 10,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  prompts: integer({
    label: 'Held-out prompts',
    help: 'Problems that are never trained on and that every evaluation answers.',
    default: 512,
    min: 1,
    max: 4096,
    unit: 'prompts',
    scale: 'log',
  }),
  n: integer({
    label: 'Sampled responses',
    help: 'Sampled responses per held-out prompt, besides the greedy one; 0 = greedy only.',
    default: 1,
    min: 0,
    max: 16,
    unit: 'responses',
  }),
}

export const PROBE: Tree<Probe> = {
  freq: integer({
    label: 'Every',
    help: 'Steps between two measurements of every layer’s entropy; 0 = never.',
    default: 1,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  rows: integer({
    label: 'Rows',
    help: 'How many responses, taken at even distances from the batch, are measured; all of them when there are fewer.',
    default: 64,
    min: 1,
    max: 1024,
    unit: 'responses',
  }),
}

export const ROOT: Tree<{ name: string; seed: number }> = {
  name: text({ label: 'Name', help: 'What this experiment is called.', default: '', max: 80 }),
  seed: integer({
    label: 'Seed',
    help: 'Decides the first weights, the problems and every sample; the same seed repeats a run.',
    default: 1,
    min: 0,
    max: 4294967295,
  }),
}

const taskLeaves = ({ params }: TaskKind): Readonly<Record<string, Leaf<number>>> =>
  Object.fromEntries(
    params.map(({ name, ...said }) => [
      name,
      Number.isInteger(said.step) ? integer(said) : number(said),
    ]),
  )

/** The fields of every kind of task, by its id. */
export const TASK_PARAMS: ReadonlyMap<string, Readonly<Record<string, Leaf<number>>>> = new Map(
  TASKS.map((kind) => [kind.id, taskLeaves(kind)]),
)

/** Parses a task choice alone. */
export const taskSchema = oneOf(
  'id',
  [...TASK_PARAMS.keys()],
  [...TASK_PARAMS].map(([id, params]) => filled(params, { id: z.literal(id) })),
) as z.ZodMiniType<TaskChoice>

const target_layer = z._default(
  z.union([z.literal('final'), z.int().check(z.minimum(1), z.maximum(MAX_LAYERS))], {
    error: (issue) =>
      `expected 'final' or a whole number from 1 to the number of layers, got ${show(issue.input)}`,
  }),
  'final',
)

const phaseSchema = oneOf(
  'kind',
  ['sft', 'rl'],
  [
    filled(SFT, { kind: z.literal('sft') }),
    filled(RL, {
      kind: z.literal('rl'),
      target_layer,
      rollout: z.optional(partial(ROLLOUT)),
      actor: z.optional(partial(ACTOR)),
      algorithm: z.optional(partial(ALGORITHM)),
    }),
  ],
)

const phases = z
  .array(phaseSchema, { error: (i) => `expected a list of phases, got ${show(i.input)}` })
  .check(
    z.minLength(1, { error: 'expected at least one phase' }),
    z.maxLength(MAX_PHASES, { error: `expected at most ${MAX_PHASES} phases` }),
  )

const section = (schema: z.ZodMiniType): z.ZodMiniType => z.prefault(schema, {} as never)

/** The whole document; rules between fields are in experiment.ts. */
export const experimentSchema = filled(ROOT, {
  version: z._default(
    z.literal(EXPERIMENT_VERSION, {
      error: (i) => `expected version ${EXPERIMENT_VERSION}, got ${show(i.input)}`,
    }),
    EXPERIMENT_VERSION,
  ),
  task: z.prefault(taskSchema, { id: TASKS[0].id } as never),
  model: section(filled(MODEL)),
  phases: z.prefault(phases, [{ kind: 'sft' }, { kind: 'rl' }] as never),
  rollout: section(filled(ROLLOUT)),
  actor: section(filled(ACTOR)),
  algorithm: section(filled(ALGORITHM)),
  validation: section(filled(VALIDATION)),
  probe: section(filled(PROBE)),
}) as unknown as z.ZodMiniType<Experiment>
