// Every field of the experiment document: its default, range, unit and one sentence of help. The only home of each.
import * as z from 'zod/mini'
import { DATA_DEFAULTS, type Data } from '../../rl/config/data.ts'
import type { Optim } from '../../rl/config/optim.ts'
import {
  type Pairs,
  type RlPhase,
  type Rollout,
  STOP_DEFAULTS,
  type Stop,
} from '../../rl/config/phase.ts'
import type { Probe, Validation } from '../../rl/config/validation.ts'
import type { AdvEstimator } from '../../rl/estimators/advantages.ts'
import { TASKS } from '../../tasks/index.ts'
import type { TaskKind } from '../../tasks/task.ts'
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
import { type TrainedFields, trainedFields } from './phase_fields.ts'
import { MAX_KERNELS_LENGTH } from './pinned_kernels.ts'
import {
  ACTOR,
  type ActorFields,
  ALGORITHM,
  type AlgorithmFields,
  CRITIC,
  type CriticFields,
  gradClip,
  optim,
} from './rl_fields.ts'
import { type SteeringEntry, steeringSchema } from './steering.ts'
import { readVerdicts } from './verdicts.ts'

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

interface SftFields {
  /** '' = named after what it does. */
  readonly name: string
  readonly steps: number
  /** 0 = as `steps` says; else `steps` follows from it (epochs.ts). */
  readonly epochs: number
  readonly batch_size: number
  readonly grad_clip: number
  readonly optim: Required<Optim>
  readonly stop: Pick<Stop, 'accuracy'>
}

interface RewardModelFields extends Omit<SftFields, 'stop' | 'epochs'> {
  /** The engine's, with a person's verdicts as text (verdicts.ts). */
  readonly pairs: Omit<Pairs, 'verdicts'> & { readonly verdicts: string }
}

interface RlFields extends TrainedFields, Pick<RlPhase, 'reward_model'> {
  /** '' = named after the layer it trains. */
  readonly name: string
  readonly steps: number
  /** As in a phase of kind sft. */
  readonly epochs: number
  readonly adv_estimator: AdvEstimator
  readonly stop: Stop
}

export interface SftDocument extends SftFields {
  readonly kind: 'sft'
}

export interface RewardModelDocument extends RewardModelFields {
  readonly kind: 'reward_model'
}

/** A phase of reinforcement learning; what it does not set itself it takes from the experiment. */
export interface RlDocument extends RlFields {
  readonly kind: 'rl'
  /** 1…L−1 = an inner layer's policy; 'final' = the model's own. */
  readonly target_layer: number | 'final'
  readonly rollout?: Overrides<Rollout> | undefined
  readonly actor?: Overrides<ActorFields> | undefined
  readonly critic?: Overrides<CriticFields> | undefined
  readonly algorithm?: Overrides<AlgorithmFields> | undefined
}

export type PhaseDocument = SftDocument | RewardModelDocument | RlDocument

/** The experiment document, version 1, with every default filled in. */
export interface Experiment {
  readonly version: 1
  readonly name: string
  readonly seed: number
  readonly task: TaskChoice
  readonly data: Data
  readonly model: ModelFields
  readonly phases: readonly PhaseDocument[]
  readonly rollout: Rollout
  readonly actor: ActorFields
  readonly critic: CriticFields
  readonly algorithm: AlgorithmFields
  readonly validation: Required<Validation>
  readonly probe: Required<Probe>
  /** What matrix products run on, as text (pinned_kernels.ts); '' = chosen by measuring. */
  readonly kernels: string
  /** What was done by hand while the run went on, in order; a run of this document obeys it. */
  readonly steering: readonly SteeringEntry[]
}

/** Every kind of phase. */
export const PHASE_KINDS = ['sft', 'reward_model', 'rl'] as const

export const EXPERIMENT_VERSION = 1
export const MAX_PHASES = 16
export const MAX_LAYERS = 16
/** Of one phase. */
export const MAX_STEPS = 100_000

export const DATA: Tree<Data> = {
  train_max_samples: integer({
    label: 'Training set',
    help: 'How many different problems training goes through, again and again; -1 = no set: every step draws from all of them at random, endlessly.',
    default: DATA_DEFAULTS.train_max_samples,
    min: -1,
    max: 100000,
    unit: 'problems',
  }),
  shuffle: boolean({
    label: 'Shuffle the set',
    help: 'Whether every epoch goes through the training set in another order; without, always in the same one.',
    default: DATA_DEFAULTS.shuffle,
  }),
}

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
    live: true,
    help: 'How many training steps this phase lasts.',
    default: count,
    min: 1,
    max: MAX_STEPS,
    unit: 'steps',
    scale: 'log',
  })

const epochs = integer({
  label: 'Epochs',
  live: true,
  help: 'Passes over the training set, in place of a number of steps; 0 = as many steps as are said.',
  default: 0,
  min: 0,
  max: 10000,
  unit: 'epochs',
})

/** When a phase ends before its steps are over (rl/config/stop.ts). */
const STOP: Tree<Stop> = {
  accuracy: number({
    label: 'Accuracy reached',
    live: true,
    help: 'Ends the phase when held-out greedy accuracy is at least this; 0 = off.',
    default: STOP_DEFAULTS.accuracy,
    min: 0,
    max: 1,
    step: 0.01,
    unit: 'share',
  }),
  score: number({
    label: 'Reward reached',
    live: true,
    help: 'Ends the phase when the mean reward of a step’s responses is at least this; 0 = off.',
    default: STOP_DEFAULTS.score,
    min: 0,
    max: 1,
    step: 0.01,
    unit: 'reward',
  }),
  plateau_steps: integer({
    label: 'Plateau, steps',
    live: true,
    help: 'Ends the phase when the mean reward of so many steps is hardly above that of as many before them, so after twice as many at the earliest; 0 = off.',
    default: STOP_DEFAULTS.plateau_steps,
    min: 0,
    max: 1000,
    unit: 'steps',
  }),
  plateau_delta: number({
    label: 'Plateau, least gain',
    live: true,
    help: 'A smaller gain in mean reward counts as none.',
    default: STOP_DEFAULTS.plateau_delta,
    min: 0,
    max: 1,
    step: 0.005,
    unit: 'reward',
  }),
  entropy_floor: number({
    label: 'Entropy below',
    live: true,
    help: 'Ends the phase when the entropy of the policy that it trains is below this; 0 = off.',
    default: STOP_DEFAULTS.entropy_floor,
    min: 0,
    max: 20,
    step: 0.01,
    unit: 'nats',
  }),
}

export const SFT: Tree<SftFields> = {
  name: phaseName,
  steps: steps(400),
  epochs,
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
  optim: optim({ lr: 0.003, lr_warmup_steps: 50, betas: [0.9, 0.95], weight_decay: 0.01 }),
  stop: { accuracy: STOP.accuracy },
}

export const REWARD_MODEL: Tree<RewardModelFields> = {
  name: phaseName,
  steps: steps(100),
  batch_size: integer({
    label: 'Batch',
    help: 'Pairs per step.',
    default: 32,
    min: 1,
    max: 1024,
    unit: 'pairs',
    scale: 'log',
  }),
  grad_clip: gradClip,
  optim: optim({ lr: 0.001, lr_warmup_steps: 10, betas: [0.9, 0.95], weight_decay: 0 }),
  pairs: {
    source: select(
      {
        label: 'Who prefers',
        help: 'Who says which of two responses is better: the task’s own score, you, or both.',
      },
      { judge: 'the task', human: 'you', mixed: 'the task and you' },
    ),
    count: integer({
      label: 'Training pairs',
      help: 'How many pairs the policy makes for training, of each source; fewer when too many are ties.',
      default: 256,
      min: 1,
      max: 4096,
      unit: 'pairs',
      scale: 'log',
    }),
    held_out: integer({
      label: 'Held-out pairs',
      help: 'Further pairs that accuracy is measured on, with prompts that no training pair has; of yours every fourth prompt, up to this many pairs.',
      default: 64,
      min: 0,
      max: 1024,
      unit: 'pairs',
    }),
    temperature: number({
      label: 'Temperature of pairs',
      help: 'Divides the logits when the two responses are sampled; higher = more different.',
      default: 1,
      min: 0.05,
      max: 5,
      step: 0.05,
    }),
    min_pairs: integer({
      label: 'Verdicts to begin',
      help: 'How many of your verdicts training waits for; later ones are used as they come.',
      default: 12,
      min: 1,
      max: 512,
      unit: 'pairs',
    }),
    verdicts: text(
      {
        label: 'Recorded verdicts',
        help: 'What someone said of the pairs of an earlier run, a letter each: a, b, s (skipped), u (taken back), with the step before later ones; empty = you are asked.',
        default: '',
        max: 1000,
      },
      {
        holds: (verdicts) => readVerdicts(verdicts) !== undefined,
        expected: 'nothing, or letters a, b, s and u with rising steps between them, like abbsa3ab',
      },
    ),
  },
}

/** Every estimator of the engine, as forms call it; the first is the default. */
export const ADV_ESTIMATOR_LABELS: Readonly<Record<AdvEstimator, string>> = {
  grpo: 'GRPO',
  gae: 'GAE (PPO with a critic)',
  grpo_vectorized: 'GRPO, vectorized',
  grpo_passk: 'GRPO for pass@k',
  reinforce_plus_plus: 'REINFORCE++',
  reinforce_plus_plus_baseline: 'REINFORCE++ with a baseline',
  remax: 'ReMax',
  rloo: 'RLOO',
  rloo_vectorized: 'RLOO, vectorized',
  opo: 'OPO',
  gpg: 'GPG',
  optimal_token_baseline: 'Optimal token baseline',
  tir_optimal_token_baseline: 'Optimal token baseline, several turns',
}

export const RL: Tree<RlFields> = {
  name: phaseName,
  steps: steps(120),
  epochs,
  adv_estimator: select(
    {
      label: 'Advantage estimator',
      help: 'How rewards become advantages: GRPO and most others compare the responses to one prompt, GAE asks a critic.',
    },
    ADV_ESTIMATOR_LABELS,
  ),
  ...trainedFields(MAX_LAYERS),
  reward_model: {
    enable: boolean({
      label: 'Reward from the reward model',
      help: 'Whether the reward model of an earlier phase scores the responses, instead of the task.',
      default: false,
    }),
  },
  stop: STOP,
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

/** Below it logits grow past what float32 tells apart. */
export const LOWEST_TEMPERATURE = 0.05

export const ROLLOUT: Tree<Required<Rollout>> = {
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
    live: true,
    help: 'Divides the logits before sampling; above 1 = more varied, below 1 = more cautious.',
    default: 1,
    min: LOWEST_TEMPERATURE,
    max: 5,
    step: 0.05,
  }),
  top_p: number({
    label: 'Top p',
    live: true,
    help: 'Samples only from the likeliest tokens that make up this share; 1 = off.',
    default: 1,
    min: 0.01,
    max: 1,
    step: 0.01,
    unit: 'share',
  }),
  top_k: integer({
    label: 'Top k',
    live: true,
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
  dtype: select(
    {
      label: 'KV cache',
      help: 'What keys and values are kept in while responses are sampled. Halves take half the memory, and the sampled policy then differs from the trained one by rounding.',
    },
    { float32: 'float32', float16: 'float16' },
  ),
  calculate_log_probs: boolean({
    label: 'Compare log-probs',
    help: 'Whether the probabilities that responses were sampled with are compared with those that are trained on (metrics rollout_corr/*), for one more readback a step.',
    default: false,
  }),
}

export const VALIDATION: Tree<Required<Validation>> = {
  test_freq: integer({
    label: 'Every',
    live: true,
    help: 'Steps between two evaluations on held-out problems; 0 = never.',
    default: 10,
    min: 0,
    max: 10000,
    unit: 'steps',
  }),
  prompts: integer({
    label: 'Held-out prompts',
    help: 'Problems that are never trained on and that every evaluation answers, each once; at most as many as the task holds out.',
    default: 512,
    min: 1,
    max: 4096,
    unit: 'prompts',
    scale: 'log',
  }),
  n: integer({
    label: 'Sampled responses',
    help: 'Sampled responses per held-out prompt, besides the greedy one; 0 = greedy only. With 2 or more, best@n and maj@n are measured too.',
    default: 1,
    min: 0,
    max: 32,
    unit: 'responses',
  }),
  temperature: number({
    label: 'Temperature of samples',
    live: true,
    help: 'Divides the logits of the sampled held-out responses; 0 = as the last phase of reinforcement samples.',
    default: 0,
    min: 0,
    max: 5,
    step: 0.05,
  }),
  val_before_train: select(
    {
      label: 'Before the first step',
      help: 'Whether the model is also evaluated before it is trained.',
    },
    { auto: 'where steps are evaluated', enable: 'yes', disable: 'no' },
  ),
  log_val_generations: integer({
    label: 'Answers kept',
    live: true,
    help: 'How many greedy and how many sampled answers of every evaluation are kept to be read; 0 = none.',
    default: 8,
    min: 0,
    max: 128,
    unit: 'answers',
  }),
}

export const PROBE: Tree<Required<Probe>> = {
  freq: integer({
    label: 'Every',
    live: true,
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
  internals: boolean({
    label: 'Entropy changes',
    help: 'Whether it is also measured how attention and feed-forward of every layer change the entropy, on steps that validate.',
    default: false,
  }),
}

/** The last of a form; at the top of the document. */
export const KERNELS: Tree<Pick<Experiment, 'kernels'>> = {
  kernels: text({
    label: 'Pinned kernels',
    help: 'What matrix products run on, so that a run repeats bit for bit: class:kernel with commas between them, and default kernels for what is not listed; default = default kernels for all; empty = measured and chosen on this adapter.',
    default: '',
    max: MAX_KERNELS_LENGTH,
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

const phaseSchema = oneOf('kind', PHASE_KINDS, [
  filled(SFT, { kind: z.literal('sft') }),
  filled(REWARD_MODEL, { kind: z.literal('reward_model') }),
  filled(RL, {
    kind: z.literal('rl'),
    target_layer,
    rollout: z.optional(partial(ROLLOUT)),
    actor: z.optional(partial(ACTOR)),
    critic: z.optional(partial(CRITIC)),
    algorithm: z.optional(partial(ALGORITHM)),
  }),
])

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
  data: section(filled(DATA)),
  model: section(filled(MODEL)),
  phases: z.prefault(phases, [{ kind: 'sft' }, { kind: 'rl' }] as never),
  rollout: section(filled(ROLLOUT)),
  actor: section(filled(ACTOR)),
  critic: section(filled(CRITIC)),
  algorithm: section(filled(ALGORITHM)),
  validation: section(filled(VALIDATION)),
  probe: section(filled(PROBE)),
  kernels: z._default(KERNELS.kernels.schema, ''),
  steering: z._default(steeringSchema(phaseSchema), []),
}) as unknown as z.ZodMiniType<Experiment>
