// Makes models of the sizes that people open, with random weights, and a task whose tokens are
// numbers: for plans, measurements and long tests.
import type { LoraConfig, ModelConfig } from '../../../model/layout/config.ts'
import type { Reward } from '../../../tasks/rewards/composed.ts'
import type { Task } from '../../../tasks/task/task.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { CONFIG, RL } from '../../testing.ts'
import type { TouchWork } from '../touched/touch.ts'

const llama = {
  model_type: 'llama',
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
} as const

/** config.json of models, by what they are called here. */
export const SHAPES = {
  /** llama2.c's stories15M. */
  '15m': {
    ...llama,
    vocab_size: 32_000,
    hidden_size: 288,
    intermediate_size: 768,
    num_hidden_layers: 6,
    num_attention_heads: 6,
    num_key_value_heads: 6,
    head_dim: 48,
  },
  /** SmolLM2-135M. */
  '135m': {
    ...llama,
    rope_theta: 100_000,
    vocab_size: 49_152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    head_dim: 64,
  },
  /** Qwen3-0.6B. */
  '0.6b': {
    ...llama,
    model_type: 'qwen3',
    rms_norm_eps: 1e-6,
    rope_theta: 1_000_000,
    vocab_size: 151_936,
    hidden_size: 1024,
    intermediate_size: 3072,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 128,
  },
} as const satisfies Readonly<Record<string, ModelConfig>>

/** PEFT's defaults, for every linear layer. */
export const LORA: LoraConfig = {
  r: 8,
  lora_alpha: 16,
  use_rslora: false,
  target_modules: 'all-linear',
  layers_to_transform: null,
}

/** How long prompts and responses are, in tokens. */
interface Lengths {
  readonly prompt: number
  readonly response: number
}

/** Prompts of random tokens. No token ends a response, and the task's own score is 0 for one that
 * did not end: MEAN_ID rewards it. */
export function numbersTask(vocab_size: number, { prompt, response }: Lengths): Task {
  const sample = (seed: number, index: number) => {
    const token = (i: number) => 2 + ((seed * 31 + index * 7919 + i * 104_729) % (vocab_size - 2))
    const text = Array.from({ length: prompt }, (_, i) => token(i)).join(' ')
    return { prompt: text, ground_truth: '2', demonstration: '2' }
  }
  return {
    id: 'numbers',
    tokenizer: {
      tokens: [],
      vocab_size,
      pad_token_id: 0,
      eos_token_id: 1,
      eos_token_ids: [],
      special_ids: new Set(),
      encode: (text) => text.split(' ').map(Number),
      decode: (ids) => Array.from(ids).join(' '),
      specialIn: () => undefined,
      unknownIn: () => [],
    },
    max_prompt_length: prompt,
    max_response_length: response,
    train_size: 1000,
    test_size: 100,
    exact_match: false,
    sample,
    score: () => 0,
  }
}

/** The mean of a response's ids: hardly two are worth the same, so that a group always teaches
 * something. */
const MEAN_ID: Reward = {
  parts: ['mean_id'],
  weights: [1],
  score: async (responses) => {
    const scores = responses.map(({ solution_str }) => {
      const ids = solution_str.split(' ').map(Number)
      return ids.reduce((sum, id) => sum + id, 0) / ids.length
    })
    return { scores, is_right: scores.map(() => false), columns: new Map(), problems: [] }
  },
}

interface Size extends Lengths {
  readonly prompts: number
  readonly n: number
}

/** GRPO of a model of this shape: one optimizer step per step, activations computed again. */
export function grpo(
  model: ModelConfig,
  { prompts, n, ...lengths }: Size,
  change: Partial<TrainerConfig> = {},
): TrainerConfig {
  return {
    ...CONFIG,
    task: numbersTask(model.vocab_size, lengths),
    reward: MEAN_ID,
    model,
    enable_gradient_checkpointing: true,
    validation: { ...CONFIG.validation, test_freq: null },
    probe: { ...CONFIG.probe, freq: null, rows: 1 },
    phases: [
      {
        ...RL,
        steps: 1000,
        target_layer: model.num_hidden_layers,
        rollout: {
          ...RL.rollout,
          train_batch_size: prompts,
          n,
          max_response_length: lengths.response,
        },
        actor: { ...RL.actor, ppo_mini_batch_size: prompts },
      },
    ],
    ...change,
  }
}

/** A short problem, whose answer is one of two tokens, for what touches a model of this shape. */
export function touchedConfig(model: ModelConfig): TrainerConfig {
  const config = grpo(model, { prompts: 2, n: 1, prompt: 3, response: 1 })
  const sample = (seed: number, index: number) => {
    const answer = index % 2 === 0 ? '2' : '3'
    const { prompt } = config.task.sample(seed, index, 'train')
    return { prompt, ground_truth: answer, demonstration: answer }
  }
  return { ...config, task: { ...config.task, sample } }
}

/** As little of each as says whether it can be done. */
export const TOUCHES = {
  readings: {
    what: 'readings',
    settings: { ...LENS_SETTINGS, texts: 2, held_out: 1, steps: 2 },
  },
  probes: { what: 'probes', property: 'next_token', problems: 20, seed: 1, l2: 1 },
  steering: {
    what: 'steering',
    source: { from: 'texts', toward: '5', away: '7' },
    problems: 2,
    seed: 1,
    strengths: [4],
  },
  parts: { what: 'parts', problems: 1 },
  patching: { what: 'patching', texts: ['5 9', '7 9'] },
  exchange: { what: 'exchange', problems: 2 },
  attribution: {
    what: 'attribution',
    sample: { prompt: '5 9', response: '2', is_ended: false },
  },
} as const satisfies Readonly<Record<TouchWork['what'], TouchWork>>
