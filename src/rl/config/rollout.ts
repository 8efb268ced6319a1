// Declares the fields that say how responses are sampled.

import type { CacheDType } from '../../kernels/attention/attention_cache.ts'
import { type TruncateSide, TURN_DEFAULTS } from '../../tasks/tools/tool.ts'
import { boolean, integer, number, select, type Tree } from '../fields/field.ts'

/** How responses are sampled. */
export interface Rollout {
  /** N: prompts per step. */
  readonly train_batch_size: number
  /** G: responses per prompt; B = N · G rows. */
  readonly n: number
  readonly temperature: number
  /** 1 = off. */
  readonly top_p: number
  /** null = off. */
  readonly top_k: number | null
  /** R: tokens generated at most, end token included. */
  readonly max_response_length: number
  /** Times the policy may write in one response, the answers of tools between them; verl's
   * max_assistant_turns. Default 1: no tools. */
  readonly max_turns?: number
  /** Calls of one turn that are run; default 1. */
  readonly max_parallel_calls?: number
  /** Characters of a tool's answer; default 256. */
  readonly max_tool_response_length?: number
  /** What a longer answer loses; default middle. */
  readonly tool_response_truncate_side?: TruncateSide
  /** What the KV cache holds: halves take half the memory, and make the sampled policy differ from
   * the trained one by rounding. */
  readonly dtype?: CacheDType
  /** Steps between sampling and training; default 0. */
  readonly staleness?: number
  /** Share of the prompts of a step whose responses are that old; the others are answered by the
   * policy as it is. Default 1. */
  readonly stale_fraction?: number
  /** Compare the sampler's log-probs with those that are trained on, and do nothing about it;
   * verl's, default false. */
  readonly calculate_log_probs?: boolean
}

/** Below it logits grow past what float32 tells apart. */
export const LOWEST_TEMPERATURE = 0.05

/** The most tokens that a response may have. */
export const MAX_RESPONSE_LENGTH = 1024

const ON_POLICY =
  'this job samples and trains in turn; verl trains on older samples by its programs one_step_off_policy (one step) and fully_async_policy (async_training.staleness_threshold)'

/** The `rollout` section. */
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
    help: 'Answers to each prompt. GRPO, RLOO and others compare them with each other.',
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
    help: 'Samples only from this many likeliest tokens; none = off.',
    default: null,
    none: -1,
    min: 1,
    max: 1000,
    unit: 'tokens',
  }),
  max_response_length: integer({
    label: 'Longest response',
    help: 'Tokens generated at most, end token included; the task sets the least.',
    default: 8,
    min: 1,
    max: MAX_RESPONSE_LENGTH,
    unit: 'tokens',
    scale: 'log',
  }),
  max_turns: integer({
    label: 'Turns',
    help: 'Times the policy may write in one response; between two turns a tool that it called answers. 1 = no tools.',
    default: 1,
    min: 1,
    max: 16,
    unit: 'turns',
  }),
  max_parallel_calls: integer({
    label: 'Calls per turn',
    help: 'Calls of one turn that are run; further ones are ignored. A vocabulary of single characters makes one call a turn.',
    default: TURN_DEFAULTS.max_parallel_calls,
    min: 1,
    max: 16,
    unit: 'calls',
  }),
  max_tool_response_length: integer({
    label: 'Longest answer of a tool',
    help: 'Characters of a tool’s answer that the model reads; what is longer is cut.',
    default: TURN_DEFAULTS.max_tool_response_length,
    min: 1,
    max: 4096,
    unit: 'characters',
  }),
  tool_response_truncate_side: select(
    { label: 'Cut answers', help: 'What a tool’s answer loses where it is too long.' },
    { middle: 'in the middle', left: 'on the left', right: 'on the right' },
  ),
  dtype: select(
    {
      label: 'KV cache',
      help: 'What keys and values are kept in while responses are sampled. Halves take half the memory, and the sampled policy then differs from the trained one by rounding.',
    },
    { float32: 'float32', float16: 'float16' },
  ),
  staleness: integer({
    label: 'Staleness',
    help: 'Steps between sampling and training: the samples of a step are of the policy this many steps ago, as where sampling and training run beside each other; 0 = of the policy as it is.',
    default: 0,
    min: 0,
    max: 64,
    unit: 'steps',
    elsewhere: { refused: ON_POLICY },
  }),
  stale_fraction: number({
    label: 'Stale share',
    help: 'Share of the prompts of a step whose responses are stale, rounded to whole prompts; the others are answered by the policy as it is.',
    default: 1,
    min: 0.01,
    max: 1,
    step: 0.05,
    elsewhere: { lost: ON_POLICY },
  }),
  calculate_log_probs: boolean({
    label: 'Compare log-probs',
    help: 'Whether the probabilities that responses were sampled with are compared with those that are trained on (metrics rollout_corr/*), for one more readback a step.',
    default: false,
  }),
}
